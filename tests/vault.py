"""A project's own sources of secrets, as OPTIONS `secret_sources` names them."""

import asyncio

SOURCES = {
    "vault": "tests.vault.read",
    "broken": "tests.vault.fail",
    "exit": "tests.vault.leave",
    "gone": "tests.vault.nowhere",
}

VALUES = {
    "kv/stripe#key": "sk-vault-unlikely-7d41 <&> \"'é",
    "empty": "",
    "number": 4711,
    "long": "x" * 70_000,
}
asked, loops = [], []
"""Names that were asked for, in order, and the event loop that each call would have held up."""


class Loud(str):
    """Text that writes itself in another way."""

    def __str__(self):
        return "loud"

    __repr__ = __str__


def read(name):
    """Answer with what is there, or raise KeyError; "loud" is of a class of its own."""
    asked.append(name)
    loops.append(asyncio._get_running_loop())
    return Loud("loud-unlikely-99x1") if name == "loud" else VALUES[name]


def fail(name):
    """Raise, as a source does that cannot be reached."""
    raise ConnectionError(f"nobody answers for {name}")


def leave(name):
    """Exit, as a client does that gives up."""
    raise SystemExit(f"nobody answers for {name}")


async def later(name):
    """Be awaited, which no source can be."""
