#!/usr/bin/env python3
"""Run Django's commands, and build what they need on first use.

``python3 manage.py test [pytest arguments]`` runs the test suite; anything else goes to Django.

The first run builds a virtual environment with the Python that was called and installs the project
in it, together with the dependency group ``dev``. It is built again when pyproject.toml changes or
when building was interrupted. ``.venv`` belongs to the Python version that made it; another version
gets a folder beside it, such as ``.venv-3.13``, so that neither disturbs the other. An environment
in which this checkout is already installed (by uv, or by hand) is used as it is.

Up to the call of ``main`` only the standard library is used, in words that Python 3.6 can read; up to the look at its
version in words that Python 2.7 can.
"""

from __future__ import print_function

import sys

if sys.version_info < (3, 11):
    sys.exit(
        "django_jobqueue needs Python 3.11 or newer, and this is {}.{} ({}): call a newer one, as in "
        "python3.12 manage.py test".format(sys.version_info[0], sys.version_info[1], sys.executable)
    )

import contextlib
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent
PYPROJECT = ROOT / "pyproject.toml"
ARRIVED = "DJANGO_JOBQUEUE_SETUP_DONE"  # set across exec, so that a broken set-up cannot loop
UNFINISHED = "unfinished"


def main():
    if sys.argv[1:2] == ["test"]:
        import pytest

        os.chdir(str(ROOT))  # testpaths and relative arguments mean the checkout
        sys.exit(pytest.main(sys.argv[2:]))

    from django.core.management import execute_from_command_line

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "demo_project.settings")
    execute_from_command_line(sys.argv)


def enter_environment():
    """Return if this Python has all that is needed; else replace it by one that has."""
    home = environment_folder()
    arrived = os.environ.pop(ARRIVED, None)
    if is_home(home) or is_installed_here():
        return
    if arrived:
        sys.exit("{} was built but {} does not run in it. Delete it.".format(home, sys.executable))
    if read(home / "set-up") != fingerprint():
        with one_at_a_time():
            if read(home / "set-up") != fingerprint():
                build(home)
    command = [str(python_in(home))] + sys.orig_argv[1:]
    os.environ[ARRIVED] = "1"
    if os.name == "nt":  # exec would give the prompt back while the command still runs
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)


def environment_folder():
    version = "{}.{}".format(*sys.version_info)
    home = ROOT / ".venv"
    made_by = [
        line.split("=")[1].strip()
        for line in read(home / "pyvenv.cfg").splitlines()
        if line.split("=")[0].strip() in ("version", "version_info")
    ]
    if made_by and not made_by[0].startswith(version + "."):
        return ROOT / ".venv-{}".format(version)
    return home


def is_home(home):
    return Path(sys.prefix).resolve() == home.resolve() and read(home / "set-up") == fingerprint()


def is_installed_here():
    """Say whether someone else keeps this environment: uv does so on each ``uv run``."""
    from importlib import metadata, util

    if Path(sys.prefix).resolve().parent == ROOT and "UV" not in os.environ:
        return False
    try:
        origin = metadata.distribution("django-jobqueue").read_text("direct_url.json") or ""
    except metadata.PackageNotFoundError:
        return False
    return '"{}"'.format(ROOT.as_uri()) in origin and util.find_spec("django") is not None


def build(home):
    print("Setting up {} (about half a minute) ...".format(home.name), file=sys.stderr, flush=True)
    python = python_in(home)
    if read(home / "set-up") == UNFINISHED or not succeeds([python, "-c", ""]):
        shutil.rmtree(str(home), ignore_errors=True)
    home.mkdir(exist_ok=True)
    (home / "set-up").write_text(UNFINISHED)
    if not python.exists():
        create(home)
    if not succeeds([python, "-m", "pip", "--version"]):  # uv leaves pip out
        run([python, "-m", "ensurepip"])
    run([python, "-m", "pip", "install", "-q", "pip>=25.1"])  # the first that knows --group
    run([python, "-m", "pip", "install", "-q", "-e", ROOT, "--group", "{}:dev".format(PYPROJECT)])
    (home / "set-up").write_text(fingerprint())


def create(home):
    try:
        import ensurepip  # noqa: F401
        import venv
    except ImportError as error:
        sys.exit(
            "This Python cannot build virtual environments ({}).\n"
            "On Debian and Ubuntu: apt install python3-venv. "
            "Or use uv: uv run manage.py test".format(error)
        )
    venv.create(str(home), with_pip=True, symlinks=os.name != "nt")


def run(command):
    # Settings meant for other environments (PIP_USER, PYTHONPATH) would put packages elsewhere.
    environment = dict(os.environ, PIP_USER="0", PIP_NO_INPUT="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
    environment.pop("PYTHONPATH", None)
    words = [str(word) for word in command]
    # The open file is the lock: it lasts until pip has ended too, if this process is killed.
    done = subprocess.run(
        words,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        close_fds=False,
    )
    if done.returncode:
        told = done.stdout.decode(errors="replace")
        sys.exit("{}Setting up failed at: {}".format(told, " ".join(words)))


def succeeds(command):
    try:
        return not subprocess.call(
            [str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    except OSError:
        return False


@contextlib.contextmanager
def one_at_a_time():
    """Let one process build; the others wait, and find it done."""
    try:
        lock = (ROOT / ".venv.lock").open("a")
    except OSError as error:
        sys.exit("Setting up needs a checkout that can be written to: {}".format(error))
    with lock:
        if os.name != "nt":  # there two first runs may collide
            import fcntl

            os.set_inheritable(lock.fileno(), True)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                print("Another process is setting up; waiting for it ...", file=sys.stderr)
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def python_in(home):
    return home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def fingerprint():
    return hashlib.sha256(PYPROJECT.read_bytes()).hexdigest()


def read(path):
    try:
        return path.read_text()
    except OSError:
        return ""


if __name__ == "__main__":
    enter_environment()
    main()
