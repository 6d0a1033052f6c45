"""When a pause ends: as code hands it in, and as a person types it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.utils import timezone
from django.utils.dateparse import parse_datetime

LONGEST = timedelta(days=36_500)
"""Of a duration: PostgreSQL knows years that Python does not."""

FORMS = "a duration such as 90s, 30m, 2h or 1d12h, or a moment such as 2026-12-01T08:00"

_DURATION = re.compile(r"(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,8})s)?", re.ASCII | re.IGNORECASE)


def checked(until: datetime | timedelta | None) -> datetime | timedelta | None:
    """Return it if a pause may end then.

    Raises ValueError where a moment has no time zone and USE_TZ is on, or is too far away; TypeError for anything else.
    """
    match until:
        case None:
            return None
        case timedelta() if until > LONGEST:
            raise ValueError(f"until is too far away: {until}; leave it out, and somebody has to resume it")
        case timedelta():
            return until
        case datetime():
            if settings.USE_TZ and timezone.is_naive(until):
                raise ValueError(f"until has no time zone, and USE_TZ is on: {until!r}")
            try:
                until.astimezone(UTC)
            except OverflowError:
                raise ValueError(f"until is in a year that Python does not have: {until}") from None
            return until
    raise TypeError(f"until is a datetime, or a timedelta that begins now; got {until!r}")


def read(typed: str) -> datetime | timedelta:
    """Read what a person types. A moment without an offset is of Django's current time zone. Raises ValueError."""
    words = typed.strip()
    if (parts := _DURATION.fullmatch(words)) and any(parts.groups()):
        days, hours, minutes, seconds = (int(number or 0) for number in parts.groups())
        duration = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        checked(duration)
        return duration
    moment = parse_datetime(words)
    if moment is None:
        raise ValueError(f"takes {FORMS}; got {typed!r}")
    if settings.USE_TZ and timezone.is_naive(moment):
        moment = timezone.make_aware(moment)
    elif not settings.USE_TZ and timezone.is_aware(moment):
        moment = timezone.make_naive(moment)
    checked(moment)
    return moment
