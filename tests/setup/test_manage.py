"""manage.py before Django: the environment that it builds, finds or leaves alone."""

import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from demo_project.embedded_pg.places import CHECKOUT

THIS_VERSION = "{}.{}".format(*sys.version_info)


@pytest.fixture
def checkout(tmp_path):
    """A checkout in which nothing was ever run."""
    shutil.copy(CHECKOUT / "manage.py", tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    return tmp_path


@pytest.fixture
def script_that_runs(checkout):
    """manage.py of that checkout as a module."""
    spec = importlib.util.spec_from_file_location("manage_under_test", checkout / "manage.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def script(script_that_runs, monkeypatch):
    """The same with commands that are noted, not run."""
    module = script_that_runs
    module.commands = []
    monkeypatch.setattr(module, "create", lambda home: module.commands.append("create"))
    monkeypatch.setattr(module, "run", lambda command: module.commands.append(" ".join(map(str, command[1:4]))))
    return module


def python_environment(home, version=THIS_VERSION):
    """Make a folder that looks like a virtual environment and can run Python."""
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "python").symlink_to(sys.executable)
    (home / "pyvenv.cfg").write_text(f"home = /usr/bin\nversion = {version}.1\n")


def test_first_run_builds_from_nothing(script, checkout):
    """A set-up creates the environment, brings pip up to date, installs, and notes that it did."""
    script.build(checkout / ".venv")

    assert script.commands[0] == "create"
    assert script.commands[-2:] == ["-m pip install", "-m pip install"]
    assert (checkout / ".venv" / "set-up").read_text() == script.fingerprint()


def test_changed_pyproject_is_installed_into_the_same_environment(script, checkout):
    """A stale set-up is brought up to date, with what else was installed there."""
    python_environment(checkout / ".venv")
    (checkout / ".venv" / "set-up").write_text("fingerprint of an older pyproject.toml")

    script.build(checkout / ".venv")

    assert "create" not in script.commands
    assert (checkout / ".venv" / "set-up").read_text() == script.fingerprint()


def test_interrupted_set_up_begins_anew(script, checkout):
    """What an interrupted set-up left is not trusted."""
    python_environment(checkout / ".venv")
    (checkout / ".venv" / "set-up").write_text(script.UNFINISHED)
    (checkout / ".venv" / "half-installed").touch()

    script.build(checkout / ".venv")

    assert "create" in script.commands
    assert not (checkout / ".venv" / "half-installed").exists()


def test_environment_whose_python_is_gone_begins_anew(script, checkout):
    """After the system's Python was removed, its environment is built with the one called."""
    python_environment(checkout / ".venv")
    (checkout / ".venv" / "bin" / "python").unlink()
    (checkout / ".venv" / "bin" / "python").symlink_to("/nowhere/python")

    script.build(checkout / ".venv")

    assert "create" in script.commands


def test_failed_set_up_is_not_noted_as_done(script, checkout, monkeypatch):
    """When pip fails, the next run tries again."""
    monkeypatch.setattr(script, "run", lambda command: sys.exit("no network"))

    with pytest.raises(SystemExit):
        script.build(checkout / ".venv")

    assert (checkout / ".venv" / "set-up").read_text() == script.UNFINISHED


def test_pip_is_heard_only_when_it_fails(script_that_runs, capfd):
    """Warnings of the machine's pip stay away from a set-up that succeeds, and come with one that fails."""
    words = [sys.executable, "-c", "import sys; print('a warning', file=sys.stderr); sys.exit(int(sys.argv[1]))"]

    script_that_runs.run([*words, "0"])
    with pytest.raises(SystemExit, match="a warning\nSetting up failed at: "):
        script_that_runs.run([*words, "1"])

    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("version", "name"), [(THIS_VERSION, ".venv"), ("3.9", f".venv-{THIS_VERSION}")])
def test_each_python_version_has_its_own_environment(script, checkout, version, name):
    """.venv stays with the version that made it; another one gets a folder beside it."""
    python_environment(checkout / ".venv", version)

    assert script.environment_folder() == checkout / name


def test_python_without_ensurepip_names_the_way_out(checkout):
    """On a Debian without python3-venv the message says what to install."""
    code = (
        "import sys; sys.modules['ensurepip'] = None; sys.argv = ['manage.py', 'help'];"
        "import runpy; runpy.run_path('manage.py', run_name='__main__')"
    )
    told = subprocess.run([sys.executable, "-c", code], cwd=checkout, capture_output=True, text=True)

    assert told.returncode == 1
    assert "apt install python3-venv" in told.stderr


def test_environment_that_does_not_take_is_no_endless_loop(checkout):
    """A second arrival outside the environment ends with a message."""
    told = subprocess.run(
        [sys.executable, "manage.py", "help"],
        cwd=checkout,
        env={"DJANGO_JOBQUEUE_SETUP_DONE": "1"},
        capture_output=True,
        text=True,
    )

    assert told.returncode == 1
    assert "Delete it" in told.stderr


def test_second_first_run_waits_for_the_first(checkout):
    """While one process builds, another says that it waits."""
    with (checkout / ".venv.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = subprocess.Popen(
            [sys.executable, "manage.py", "help"], cwd=checkout, stderr=subprocess.PIPE, text=True
        )
        line = waiting.stderr.readline()
        waiting.kill()
        waiting.communicate()

    assert "waiting" in line


@pytest.mark.parametrize("versions", [["2.7"], ["3.8", "3.9", "3.10", "3.7", "3.6"]], ids=["2", "3"])
def test_an_old_python_is_told(checkout, versions):
    """Python 2.7, and 3.6 to 3.10, can read the script, and get a sentence instead of a traceback."""
    old = next(filter(None, map(find_python, versions)), None)
    if old is None:
        pytest.skip(f"no Python {' or '.join(versions)} on this machine")

    told = subprocess.run([old, "manage.py", "test"], cwd=checkout, capture_output=True, text=True)

    assert told.returncode == 1
    (line,) = told.stderr.splitlines()
    assert line.startswith("django_jobqueue needs Python 3.11 or newer, and this is ")


def find_python(version):
    """Return a Python that runs: a version manager's shim may be on PATH and refuse."""
    places = [Path(entry) for entry in os.environ.get("PATH", "/usr/bin").split(os.pathsep)]
    places += Path.home().glob(f".pyenv/versions/{version}.*/bin")
    for place in places:
        program = place / f"python{version}"
        if program.exists() and subprocess.run([program, "-V"], capture_output=True).returncode == 0:
            return program
    return None


def test_exit_code_of_the_tests_is_passed_on(tmp_path):
    """`manage.py test` works from any folder, and ends with pytest's own exit code."""
    told = subprocess.run(
        [sys.executable, CHECKOUT / "manage.py", "test", "--collect-only", "-q", "tests/nowhere"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    assert told.returncode == 4
    assert "tests/nowhere" in told.stderr + told.stdout


def test_nothing_but_the_interpreter_is_needed():
    """Without any environment variable, PATH and HOME included, Django's commands run."""
    told = subprocess.run(
        [sys.executable, CHECKOUT / "manage.py", "embedded_db", "status"],
        cwd="/",
        env={},
        capture_output=True,
        text=True,
    )

    assert told.returncode == 0, told.stderr
    assert "running:" in told.stdout
