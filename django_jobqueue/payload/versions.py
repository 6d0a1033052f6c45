"""Stored arguments of an older version of a task, brought up to the one that runs.

A step is a function `(args, kwargs) -> (args, kwargs)` of plain JSON values, as they are stored; the one under 1 leads
from version 1 to version 2. Steps run in the process that is about to call the task, one after the other, and change
no row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django_jobqueue.exceptions import InvalidPayload
from django_jobqueue.payload.misfit import raised

Step = Callable[[list[Any], dict[str, Any]], tuple[list[Any], dict[str, Any]]]


def upgraded(
    args: list[Any], kwargs: dict[str, Any], *, stored: int, version: int, steps: Mapping[int, Step], path: str = ""
) -> tuple[list[Any], dict[str, Any]]:
    """Bring arguments from version `stored` to `version`. Raises InvalidPayload, also for what a step raises."""
    place = f"{path}args and kwargs"
    if stored > version:
        raise InvalidPayload(place, f"are of version {stored}, and the code here knows version {version} at most")
    for number in range(stored, version):
        made, flaw = None, ""
        try:
            made = steps[number](args, kwargs)
        except (Exception, SystemExit) as error:  # the project's code; its words may hold a value
            flaw = raised(error)
        if flaw:
            # Outside of the handler: with the error as its context it would be told to the caller after all.
            raise InvalidPayload(place, f"upgrade {number} raised {flaw}")
        match made:
            case (list() as args, dict() as kwargs) if all(type(name) is str for name in kwargs):
                pass
            case _:
                raise InvalidPayload(
                    place, f"upgrade {number} returns (args, kwargs), a list and a dict with text as keys, and did not"
                )
    return args, kwargs
