"""How many jobs may start in a time: a token bucket, as text and as numbers.

A bucket holds at most `burst` tokens and gains one at an even pace. A start takes one, so in any window of `w` seconds
there are at most `burst + w / pace` starts. The pace is counted in whole microseconds, rounded up: PostgreSQL's clock
has no finer ones, and so the promise is exact.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_PER_SECOND = 10_000
"""Beyond this a pace in whole microseconds would be too coarse to be honest."""

MAX_BURST = 100_000

_PERIODS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}

_WORDS = {
    "s": "s", "sec": "s", "second": "s",
    "m": "m", "min": "m", "minute": "m",
    "h": "h", "hour": "h",
    "d": "d", "day": "d",
}  # fmt: skip

_RATE = re.compile(r"\s*(\d{1,12})\s*/\s*([a-z]+)(?:\s+burst\s+(\d{1,12}))?\s*", re.ASCII)

EXPECTED = 'is a number of starts and s, m, h or d, as in "100/m", or with a burst, as in "100/m burst 20"'


@dataclass(frozen=True, slots=True)
class Rate:
    """So many starts in a period (s, m, h or d), and a burst of so many at once."""

    count: int
    period: str
    burst: int

    @property
    def pace_microseconds(self) -> int:
        """The time in which a bucket gains one token, rounded up."""
        return -(-_PERIODS[self.period] * 1_000_000 // self.count)

    def most_starts(self, microseconds: int) -> int:
        """Say how many starts there may be in a window so long, both of its ends included."""
        return self.burst + microseconds // self.pace_microseconds

    def __str__(self) -> str:
        rate = f"{self.count}/{self.period}"
        return rate if self.burst == default_burst(self.count, self.period) else f"{rate} burst {self.burst}"


def parse(text: object) -> Rate:
    """Read a rate. Periods may be written out, as Django REST framework has them: `100/min`, `100/minute`.

    Raises ValueError that says what is expected, to be put behind the name of whatever has the value.
    """
    found = _RATE.fullmatch(text) if isinstance(text, str) else None
    if found is None or found[2] not in _WORDS:
        raise ValueError(EXPECTED)
    count, period = int(found[1]), _WORDS[found[2]]
    most = MAX_PER_SECOND * _PERIODS[period]
    if not 1 <= count <= most:
        raise ValueError(f"allows from 1/{period} to {most}/{period}; to start nothing, pause")
    burst = default_burst(count, period) if found[3] is None else int(found[3])
    if not 1 <= burst <= MAX_BURST:
        raise ValueError(f"has a burst from 1 to {MAX_BURST}")
    return Rate(count, period, burst)


def default_burst(count: int, period: str) -> int:
    """Say how many may start at once where nobody says: those of one second, and at least one."""
    return max(1, count // _PERIODS[period])
