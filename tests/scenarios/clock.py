"""The time of day of a process, as far from the truth as a file says: libfaketime."""

from pathlib import Path

LIBRARY = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
HOUR = 3600


class Clock:
    """A clock that may be set while the processes that have its `environment` run."""

    def __init__(self, path, ahead=0):
        self._path = path
        self.set(ahead)
        self.environment = {
            "LD_PRELOAD": str(LIBRARY),
            "FAKETIME_TIMESTAMP_FILE": str(path),
            # Read again each second. To read it for each look at the clock makes a worker too slow for its leases.
            "FAKETIME_CACHE_DURATION": "1",
            # A clock that is set moves the time of day only.
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }

    def set(self, seconds):
        """Be so many seconds ahead."""
        replacement = self._path.with_suffix(".new")
        replacement.write_text(f"{seconds:+d}\n")
        replacement.replace(self._path)
