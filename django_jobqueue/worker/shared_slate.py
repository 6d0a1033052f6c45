"""A clean slate for coroutines, who share one: their ORM's calls all go through one thread, and so one connection.

None of them may close it under the others, who may be in the middle of an iteration, or keep a transaction over an
await. So it is checked before the first one, cleaned after the last one, and between the two only mended: a connection
that is dead is dropped, as nothing comes of it any more for anybody, and one that works is left as it is. Its age can
wait for a moment without coroutines; a busy process may be long without one.

A transaction that is open when one of several has ended was left behind by it, or is another's that still runs. Nobody
can tell. So it stays, and the process takes no more jobs: with the last of those in hand it is rolled back, and what
comes later does not write into it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from asgiref.sync import sync_to_async

from django_jobqueue.worker import clock, slate

LOOK_SECONDS = 15.0
"""A coroutine begins after so long, whether the thread had a moment for its connection or not.

Its own calls come after the look in any case: the thread takes one after the other. Until it begins its time limit does
not run, so it is worth to wait; for so long that nobody takes its process for hung (`child.BEGIN_SECONDS`).
"""

Answer = TypeVar("Answer")


class SharedSlate:
    """What the coroutines of a process have in common. Used in their event loop only."""

    def __init__(self) -> None:
        self._in_hand = 0
        self._task_names: set[str] = set()
        """Of all that were in hand since it was clean."""

    async def enter(self, task_name: str) -> None:
        """Begin: whatever comes of it, `leave` follows."""
        look = slate.mend if self._in_hand else slate.before
        self._in_hand += 1
        self._task_names.add(task_name)
        await _uncancelled(_in_the_thread(look), LOOK_SECONDS)

    async def leave(self) -> bool:
        """End; says whether a transaction is open while others are in hand."""
        self._in_hand -= 1
        if self._in_hand:
            return bool(await _uncancelled(_in_the_thread(slate.mend)))
        task_names = " or ".join(sorted(self._task_names))
        self._task_names.clear()
        await _uncancelled(_in_the_thread(lambda: slate.after(task_names)))
        return False


def _in_the_thread(call: Callable[[], Answer]) -> asyncio.Task[Answer]:
    async def make() -> Answer:
        return await sync_to_async(call)()

    return asyncio.ensure_future(make())


async def _uncancelled(running: asyncio.Task[Answer], seconds: float | None = None) -> Answer | None:
    """Await something to its end, or for so long.

    A cancel that a task asked for itself, and did not wait for, would be delivered here.
    """
    until = None if seconds is None else clock.now() + seconds
    while not running.done():
        left = None if until is None else until - clock.now()
        if left is not None and left <= 0:
            return None
        with suppress(asyncio.CancelledError):
            await asyncio.wait({running}, timeout=left)
    return running.result()
