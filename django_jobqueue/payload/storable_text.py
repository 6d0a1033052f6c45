"""The words of a failure, fit to be stored: valid UTF-8 without NUL, short whatever was raised.

An exception is code of somebody else's: its `__str__` may raise, its message may be fifty
megabytes, its traceback ten thousand frames. `describe` reads a bounded part of each and never
fails. Values of local variables are not read: they may be secrets.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from traceback import FrameSummary, StackSummary, walk_tb
from types import FrameType, TracebackType
from typing import Any, TypeVar

from django_jobqueue.policy.outcomes import Failure

Value = TypeVar("Value")
Cover = Callable[[str], str]

MAX_CLASS_CHARS = 255
MAX_MESSAGE_CHARS = 4_000
MAX_TRACEBACK_CHARS = 16_000

_HEAD_FRAMES = 15
_TAIL_FRAMES = 25
_MAX_LINE_CHARS = 500
_MAX_COVERED_CHARS = 64_000
_MAX_LINKS = 5
_MAX_MEMBERS = 5
_MAX_NESTING = 2

# Not resolved: a frame names its file as the import found it.
_OUR_FILES = f"{Path(__file__).parents[1]}{os.sep}"

_CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
_CONTEXT = "\nDuring handling of the above exception, another exception occurred:\n\n"


def storable(text: str, max_chars: int) -> str:
    """Return `text` with at most max_chars characters, all of which PostgreSQL can hold.

    What is too long loses its middle, with a mark that says how much was cut. NUL and lone
    surrogates become escapes.
    """
    # A subclass may lie about its length: join makes a plain str of it.
    text = _clean(_shortened("".join((text,)), max_chars))
    # Escapes are longer than what they stand for.
    return text if len(text) <= max_chars else _shortened(text, max_chars)


def describe(exception: BaseException, *, cover: Cover = str) -> Failure:
    """Say what an exception was, in bounded time and space. Never raises.

    `cover` hides secrets in a text, before it is shortened: of one that is cut in two the halves are harder to tell.
    """
    return Failure(
        exception_class=class_path(type(exception), cover=cover),
        message=storable(_message(exception, cover), MAX_MESSAGE_CHARS),
        traceback=storable(cover(_traceback(exception, cover)), MAX_TRACEBACK_CHARS),
    )


def earlier(exception: BaseException) -> BaseException | None:
    """Return what an exception was raised from, or while what; None if it says that there is nothing. Never raises."""
    return _earlier_and_joint(exception)[0]


def class_path(cls: type, *, cover: Cover = str) -> str:
    """Return the dotted path of a class, as `builtins.ValueError`: at most 255 characters.

    A class may be made where it is raised, and be named for a value.
    """
    path = _attempted(lambda: f"{cls.__module__}.{cls.__qualname__}", "builtins.Exception")
    return storable(cover("".join((path,))), MAX_CLASS_CHARS)


def _shortened(text: str, max_chars: int) -> str:
    if len(text) <= max_chars:
        return text
    # The mark itself takes room: a guess with the largest number in it is long enough.
    room = max(0, max_chars - len(_mark(len(text))))
    head = room // 2
    tail = room - head
    return (text[:head] + _mark(len(text) - room) + text[len(text) - tail :])[:max_chars]


def _mark(cut: int) -> str:
    return f"\n… {cut} characters cut …\n"


def _clean(text: str) -> str:
    if "\0" in text:
        text = text.replace("\0", "\\x00")
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def _message(exception: BaseException, cover: Cover) -> str:
    name = type(exception).__name__
    text = _attempted(lambda: str(exception), f"<{name} whose text cannot be had: its __str__ raises>")
    return cover(_shortened("".join((text,)), _MAX_COVERED_CHARS))


def _traceback(exception: BaseException, cover: Cover) -> str:
    return _attempted(lambda: "".join(_chain(exception, cover)), "<traceback that cannot be had>")


def _attempted(call: Callable[[], Value], fallback: Value) -> Value:
    """Call code of a task's exception.

    Whatever it raises, SystemExit included, is no reason to lose the outcome.
    """
    try:
        return call()
    except BaseException:
        return fallback


def _chain(exception: BaseException, cover: Cover, nesting: int = 0) -> Iterator[str]:
    """Yield the text of an exception after those that led to it, oldest first, as Python does."""
    links: list[tuple[BaseException, str]] = [(exception, "")]
    seen = {id(exception)}
    while len(links) <= _MAX_LINKS:
        earlier, joint = _earlier_and_joint(links[-1][0])
        if earlier is None or id(earlier) in seen:
            break
        seen.add(id(earlier))
        links.append((earlier, joint))
    if len(links) > _MAX_LINKS:
        yield "… earlier exceptions cut …\n"
        links.pop()
    # Each joint stands between the older exception and the one that follows.
    for link, joint in reversed(links):
        yield from _one(link, cover, nesting)
        yield joint


def _earlier_and_joint(exception: BaseException) -> tuple[BaseException | None, str]:
    cause = _attempted(lambda: exception.__cause__, None)
    if cause is not None:
        return cause, _CAUSE
    suppressed = _attempted(lambda: exception.__suppress_context__, False)
    return (None, "") if suppressed else (_attempted(lambda: exception.__context__, None), _CONTEXT)


def _one(exception: BaseException, cover: Cover, nesting: int) -> Iterator[str]:
    traceback = _attempted(lambda: exception.__traceback__, None)
    if traceback is not None:
        yield "Traceback (most recent call last):\n"
        yield from _frames(traceback)
    message = _shortened(_message(exception, cover), MAX_MESSAGE_CHARS)
    yield f"{class_path(type(exception)).removeprefix('builtins.')}: {message}\n"
    yield _attempted(lambda: _notes(exception, cover), "<notes that cannot be had>\n")
    # Not isinstance: it would ask the exception for its __class__.
    if issubclass(type(exception), BaseExceptionGroup):
        yield _attempted(lambda: "".join(_members(exception, cover, nesting)), "<members that cannot be had>\n")


def _notes(exception: BaseException, cover: Cover) -> str:
    notes = [_shortened(str(note), _MAX_COVERED_CHARS) for note in getattr(exception, "__notes__", ())[:_MAX_MEMBERS]]
    return "".join([f"{_shortened(cover(note), _MAX_LINE_CHARS)}\n" for note in notes])


def _members(group: Any, cover: Cover, nesting: int) -> Iterator[str]:
    members = group.exceptions
    if nesting == _MAX_NESTING:
        yield f"  | … {len(members)} exceptions cut …\n"
        return
    for number, member in enumerate(members[:_MAX_MEMBERS], 1):
        yield f"  +---------------- {number} ----------------\n"
        text = "".join(_chain(member, cover, nesting + 1))
        yield from (f"  | {line}\n" for line in text.splitlines())
    if len(members) > _MAX_MEMBERS:
        yield f"  | … {len(members) - _MAX_MEMBERS} more exceptions cut …\n"


def _frames(traceback: TracebackType) -> Iterator[str]:
    steps = walk_tb(_from_the_callers_own(traceback))
    head = list(islice(steps, _HEAD_FRAMES))
    tail: deque[tuple[FrameType, int]] = deque(maxlen=_TAIL_FRAMES)
    count = len(head)
    for step in steps:
        tail.append(step)
        count += 1
    yield from map(_frame, StackSummary.extract(iter(head)))
    if count > len(head) + len(tail):
        yield f"  … {count - len(head) - len(tail)} frames cut …\n"
    yield from map(_frame, StackSummary.extract(iter(tail)))


def _from_the_callers_own(traceback: TracebackType) -> TracebackType:
    """Leave out the frames of this app that a traceback begins with: it called the task, and has no part in the error.

    Where there are no others the error is this app's, and every frame counts.
    """
    step: TracebackType | None = traceback
    while step is not None and step.tb_frame.f_code.co_filename.startswith(_OUR_FILES):
        step = step.tb_next
    return step or traceback


def _frame(frame: FrameSummary) -> str:
    line = f"    {frame.line[:_MAX_LINE_CHARS]}\n" if frame.line else ""
    return f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}\n{line}'
