"""Tokens that are known by their own shape, two of each, under neutral names.

Where a comment names a rule set, the shape was compared with its expression. Where it names a vendor's documentation
alone, the prefix and length are from there, without an expression to compare with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.payload.secret_corpus_three import tokens_of_clouds, tokens_of_code, tokens_of_services
from tests.payload.secret_corpus_three.draw import Draw
from tests.payload.secret_corpus_three.frames import framed

Shape = str | Callable[[Draw], str]


def secrets() -> Iterator[tuple[str, object, str]]:
    """Two payloads for each token format."""
    shapes: dict[str, Shape] = {**tokens_of_clouds.SHAPES, **tokens_of_code.SHAPES, **tokens_of_services.SHAPES}
    for name, shape in shapes.items():
        debatable = "debatable:" if name.startswith("debatable:") else ""
        title = f"{debatable}token/{name.removeprefix('debatable:')}"
        draw = Draw(title)
        for _ in range(2):
            secret = draw.fill(shape) if isinstance(shape, str) else shape(draw)
            yield title, framed(draw, secret), secret
