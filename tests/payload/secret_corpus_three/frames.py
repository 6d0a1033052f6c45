"""Payloads that say nothing of the value they carry: neutral names, and texts without a telling word."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import quote

from tests.payload.secret_corpus_three.draw import Draw

Frame = Callable[[Draw, str], object]


def _line(draw: Draw) -> int:
    return draw.randint(100, 9999)


FRAMES: list[Frame] = [
    lambda d, v: {"order_id": _line(d), "value": v},
    lambda d, v: {"account": _line(d), "options": {"region": "eu-central-1", "data": v, "retries": 3}},
    lambda d, v: {"args": ["import", v, _line(d)]},
    lambda d, v: {"message": f"Hello Dana, here is what you asked for: {v} Please tell me when it works."},
    lambda d, v: {"note": f"Talked to ops on Monday.\nThe new one is {v}\nOld one goes away on Friday."},
    lambda d, v: {"body": json.dumps({"id": _line(d), "content": v, "tags": ["a", "b"]})},
    lambda d, v: {"settings": f"REGION=eu-west-1\nAPP_VALUE={v}\nDEBUG=0\n"},
    lambda d, v: {"document": f"service:\n  host: api.example.com\n  extra: {v}\n  timeout: 30\n"},
    lambda d, v: {"line": f"2024-05-{d.randint(10, 28)} 12:00:01,{_line(d)} INFO worker started with {v} (pid 4123)"},
    lambda d, v: {"script": f"#!/bin/sh\nexport THING='{v}'\n./run.sh --all\n"},
    lambda d, v: {"rows": [["name", "amount"], ["lamp", 3], ["extra", v]]},
    lambda d, v: {"html": f"<p>For the setup use <code>{v}</code> as shown in step {d.randint(2, 9)}.</p>"},
    lambda d, v: [{"kind": "webhook", "steps": [{"name": "call", "with": {"x": v}}]}],
    lambda d, v: {"customer": {"id": _line(d), "notes": [{"at": "2024-02-11", "text": f"uses {v}"}]}},
    lambda d, v: {"a": 1, "b": v},
    lambda d, v: {"subject": "Re: access", "text": f'> can you send it again?\n\nSure: "{v}"\n\n--\nMaria'},
    lambda d, v: {"headers": {"X-Custom": v, "Accept": "application/json"}},
    lambda d, v: {"call": f"client = Client(\n    host='api.example.com',\n    x='{v}',\n)\n"},
]
IN_A_URL: Frame = lambda d, v: {"url": f"https://api.example.com/v2/items?page={d.randint(1, 9)}&x={v}"}  # noqa: E731


def framed(draw: Draw, value: str) -> object:
    """The value in one of the frames; in a URL only where it needs no quoting."""
    if quote(value) == value and len(value) < 100 and draw.random() < 0.08:
        return IN_A_URL(draw, value)
    return draw.choice(FRAMES)(draw, value)


BLOCK_FRAMES: list[Frame] = [
    lambda d, v: {"host": "build.example.com", "content": v},
    lambda d, v: {"files": [{"path": "deploy/id", "mode": "0600", "text": v}]},
    lambda d, v: {"body": json.dumps({"name": "ci", "data": v})},
    lambda d, v: {"message": f"Hi, put this on the server, please:\n\n{v}\n\nBest,\nJo"},
    lambda d, v: {"document": "item:\n  data: |\n" + "".join(f"    {line}\n" for line in v.splitlines())},
]


def framed_block(draw: Draw, block: str) -> object:
    """Several lines, as a file or a pasted text."""
    return draw.choice(BLOCK_FRAMES)(draw, block)
