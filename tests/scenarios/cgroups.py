"""A memory cgroup to put a worker in."""

import os
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")


class MemoryCgroup:
    """A cgroup of a test's own, below the one this process lives in, with a limit. Raises OSError."""

    def __init__(self, megabytes):
        self._folder, limit = _place()
        self._folder.mkdir()
        (self._folder / limit).write_text(str(megabytes << 20))

    @property
    def entrance(self):
        """The beginning of a command that runs the rest of it in the cgroup."""
        return ["sh", "-c", f'echo $$ > {self._folder}/cgroup.procs && exec "$@"', "sh"]

    def remove(self):
        """Remove it; says whether that could be done."""
        try:
            self._folder.rmdir()
        except OSError:
            return False
        return True


def _place():
    name = f"jobqueue-{os.getpid()}"
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            own = ROOT / "memory" / path.lstrip("/")
            return (own if own.is_dir() else ROOT / "memory") / name, "memory.limit_in_bytes"
    # Version 2 lets no cgroup that holds processes share memory out; a sibling of this one has a parent that does.
    own = ROOT / path.lstrip("/")
    parent = own if own == ROOT else own.parent
    if "memory" not in (parent / "cgroup.subtree_control").read_text().split():
        raise OSError("memory is not shared out here")
    return parent / name, "memory.max"
