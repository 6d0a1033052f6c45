"""Give deaths of the same kind the same name, so that a thousand letters of one outage read as one."""

from __future__ import annotations

import hashlib
import re

from django_jobqueue.policy.outcomes import Failure

_FRAME = re.compile(r'^\s*File "([^"]+)", line \d+, in (\S+)', re.MULTILINE)


def origin(failure: Failure) -> str:
    """Name the class of an exception and the function it came from."""
    frames = _FRAME.findall(failure.traceback)
    place = "|".join(frames[-1]) if frames else ""
    return f"{failure.exception_class}\x1f{place}"


def fingerprint(task: str, reason: str, failure: Failure) -> str:
    """Hash the task, the reason, the exception's class and the function it came from: 16 hex digits.

    Neither the message nor the line number counts: the one carries ids, the other moves with every deploy. What a task
    raises to steer itself is one class from one line, whatever had happened: there the cause counts too.
    """
    causes = (failure.cause,) if failure.cause else ()
    identity = "\x1f".join((task, reason, origin(failure), *causes))
    return hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()[:16]
