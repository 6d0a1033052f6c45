"""What is wrong with a value, and where in it: raised deep inside, told by the one who knows the value's name."""

from __future__ import annotations

from typing import Any

from django_jobqueue.exceptions import InvalidPayload

SHOWN_STEPS = 12
"""Steps of a path that an error names; of a longer one it leaves out the middle."""


class Misfit(Exception):
    """A value that cannot be stored, or is none of its type.

    The path grows while the search unwinds, so that good values pay nothing for it.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.steps: list[str] = []

    def at(self, path: str) -> InvalidPayload:
        """Return the error that names the place; path names the whole value, as in `args[0]`."""
        steps = self.steps[::-1]
        if len(steps) > SHOWN_STEPS:
            steps[SHOWN_STEPS // 2 : -SHOWN_STEPS // 2] = ["…"]
        return InvalidPayload(path + "".join(steps), self.problem)


def a(name: str) -> str:
    """Put the article that a name is spoken with before it: some are plural."""
    if name in ("bytes", "dict_keys", "dict_values", "dict_items"):
        return name
    return f"{'an' if name[:1].lower() in 'aeio' or name[:2].lower() == 'un' else 'a'} {name}"


def raised(error: BaseException) -> str:
    """Say what was raised and where, without its words, which may hold a value: the line that is nearest to it."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    place = f" ({step.tb_frame.f_code.co_filename}, line {step.tb_lineno})" if step is not None else ""
    return f"{type(error).__name__}{place}"


def shown(value: Any) -> str:
    """Write a key or a name for an error, in 60 characters at most; one that is itself a secret is not told."""
    # Here, for what finds secrets is written with the errors of this module.
    from django_jobqueue.payload.secret_shapes import MASK, is_secret_key

    try:
        text = repr(value)
        if is_secret_key(value if isinstance(value, str) else text, None):
            return MASK
    except Exception:
        return f"of type {type(value).__name__}"
    return f"{text[:60]}…" if len(text) > 60 else text
