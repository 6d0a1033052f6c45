"""Innocent payloads in numbers: ten of each kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.payload.secret_corpus_three.draw import Draw

Kinds = dict[str, Callable[[Draw, int], object]]


def payloads_of(kinds: Kinds) -> Iterator[tuple[str, object]]:
    """Ten payloads of each kind; the function gets the number of the payload too."""
    for kind, payload in kinds.items():
        draw = Draw(f"plain/{kind}")
        for number in range(10):
            yield kind, payload(draw, number)
