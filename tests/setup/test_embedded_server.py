"""The embedded server's life: who starts it, who keeps it, what stops it."""

import contextlib
import io
import json
import os
import select
import signal
import subprocess
from pathlib import Path

import psutil
import pytest
from django.core.management import CommandError

from demo_project.embedded_pg.errors import EmbeddedServerError
from demo_project.embedded_pg.locks import is_locked
from demo_project.embedded_pg.places import CHECKOUT
from demo_project.embedded_pg.postmaster import forget_zombie, postmaster_id
from demo_project.embedded_pg.server import Server
from tests.waiting import wait_until


def is_over(home):
    """Say whether neither server nor keeper is left."""
    places = Server(home).places
    return postmaster_id(places.data) is None and not is_locked(places.keeper_lock)


def test_server_stops_when_its_only_user_is_killed(home, program):
    """SIGKILL of the last user stops the server within seconds."""
    user = program(home)
    user.start()

    user.kill()

    wait_until(lambda: is_over(home))


def test_server_outlives_one_of_two_users(used_home, program, connect):
    """A server stays as long as anyone uses it."""
    first, second = program(used_home), program(used_home)
    assert first.start() == second.start()

    first.kill()

    assert is_locked(Server(used_home).places.keeper_lock)
    assert connect(used_home).execute("SELECT 1").fetchone() == (1,)


def test_four_cold_starters_share_one_server(home, program):
    """Processes that start at once on an empty folder get the same server."""
    users = [program(home) for _ in range(4)]
    for user in users:
        user.ask("start")

    assert len({user.answer() for user in users}) == 1


def test_forked_child_keeps_the_server(used_home, program, connect):
    """A child forked after the first connection is a user too, also without its parent."""
    parent = program(used_home)
    parent.start()
    child = psutil.Process(parent.fork())

    parent.kill()

    assert connect(used_home).execute("SELECT 1").fetchone() == (1,)
    assert is_locked(Server(used_home).places.keeper_lock)
    child.kill()
    wait_until(lambda: is_over(used_home))


def test_next_command_finds_the_server_still_warm(used_home, program):
    """A user that comes right after the last one left gets the same server."""
    first = program(used_home)
    process_id = first.start()
    first.kill()

    assert program(used_home).start() == process_id


def test_killed_server_comes_back_with_its_data(used_home, program, connect):
    """After a SIGKILL of PostgreSQL the next connection finds what was committed."""
    user = program(used_home)
    killed = user.start()
    connect(used_home).execute("CREATE TABLE kept AS SELECT 1 AS number")

    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: postmaster_id(Server(used_home).places.data) is None)

    assert user.start() != killed
    assert connect(used_home).execute("SELECT number FROM kept").fetchone() == (1,)


def test_killed_keeper_is_replaced(used_home, program):
    """A user that connects after the keeper was killed spawns another one."""
    user = program(used_home)
    user.start()
    places = Server(used_home).places
    keeper = wait_until(lambda: keeper_of(places))

    keeper.kill()
    wait_until(lambda: not is_locked(places.keeper_lock))
    user.start()

    assert is_locked(places.keeper_lock)


def keeper_of(places):
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if "demo_project.embedded_pg.keeper" in words and str(places.data) in words:
            return process
    return None


def test_starter_killed_midway_leaves_nothing_that_hinders(home, program):
    """A first start that was killed is cleaned up, and the next one succeeds."""
    killed = program(home)
    killed.ask("start")
    cluster = Server(home).places.cluster
    wait_until(lambda: cluster.exists() and any(cluster.iterdir()))

    killed.kill()
    user = program(home)

    assert user.start()


def test_interrupt_at_the_terminal_spares_the_server(used_home, program):
    """Ctrl-C reaches the whole process group of a user, and neither server nor keeper."""
    interrupted, other = program(used_home), program(used_home)
    process_id = interrupted.start()
    other.start()

    os.killpg(interrupted.process.pid, signal.SIGINT)
    interrupted.process.wait()

    assert other.start() == process_id
    assert is_locked(Server(used_home).places.keeper_lock)


@pytest.mark.parametrize("name", ["deep/" * 20, "it's, a place"], ids=["too long", "odd"])
def test_any_folder_will_do(home, program, connect, name):
    """A path too long for a socket, or one that needs quoting, is no obstacle."""
    place = home.parent / name / "home"
    try:
        program(place).start()

        assert connect(place).execute("SELECT 1").fetchone() == (1,)
    finally:
        Server(place).stop()
        Server(place).places.sockets.rmdir()


def test_data_of_another_version_are_refused_with_the_way_out(home):
    """Data made by another major version stay untouched, and the message names `reset`."""
    server = Server(home)
    server.places.create()
    server.places.data.mkdir()
    (server.places.data / "PG_VERSION").write_text("12\n")

    with pytest.raises(EmbeddedServerError, match=r"made by PostgreSQL 12(?s:.*)embedded_db reset"):
        server.start()

    server.release()
    assert (server.places.data / "PG_VERSION").exists()
    wait_until(lambda: is_over(home))


def test_folder_of_somebody_else_is_refused(home):
    """A folder that another user put in our place is not used."""
    server = Server(home)
    server.places.create()
    server.places.sockets.rmdir()
    server.places.sockets.symlink_to("/tmp")

    with pytest.raises(EmbeddedServerError, match="not a folder of user id"):
        server.start()


def test_unreaped_server_counts_as_dead(tmp_path):
    """A zombie is not taken for a running server, and its pid file goes."""
    child = subprocess.Popen(["/bin/sh", "-c", "exit 0"])
    wait_until(lambda: psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE)
    (tmp_path / "postmaster.pid").write_text(f"{child.pid}\n")

    assert postmaster_id(tmp_path) is None
    forget_zombie(tmp_path)
    assert not (tmp_path / "postmaster.pid").exists()
    child.wait()


def test_recycled_process_id_is_not_our_server(tmp_path):
    """A stale pid file that names another living process does not endanger it."""
    (tmp_path / "postmaster.pid").write_text(f"{os.getpid()}\n")

    assert postmaster_id(tmp_path) is None


def test_reset_spares_a_server_in_use(used_home, program, connect, embedded_db):
    """reset refuses while a program uses the server, and says what to do."""
    program(used_home).start()
    connect(used_home).execute("CREATE TABLE kept AS SELECT 1 AS number")

    with pytest.raises(CommandError, match="embedded_db stop"):
        embedded_db("reset", "--noinput")

    assert connect(used_home).execute("SELECT number FROM kept").fetchone() == (1,)


def test_reset_after_stop_begins_afresh(used_home, program, connect, embedded_db):
    """After stop, reset deletes the data; a program that still lives gets an empty server."""
    user = program(used_home)
    user.start()
    connect(used_home).execute("CREATE TABLE gone AS SELECT 1")

    told = embedded_db("stop")
    embedded_db("reset", "--noinput")

    assert told == "Stopped, although in use; the next connection starts it again.\n"
    assert json.loads(embedded_db("status", "--json"))["data_version"] is None
    user.start()
    assert connect(used_home).execute("SELECT to_regclass('gone')").fetchone() == (None,)


def test_reset_leaves_no_folder(used_home, program, embedded_db):
    """With the data go the locks and the folder, however short ago the server was used."""
    user = program(used_home)
    user.start()
    user.kill()

    embedded_db("reset", "--noinput")

    assert not used_home.exists()
    program(used_home).start()


def test_reset_keeps_what_it_does_not_know(used_home, embedded_db):
    """Files of somebody else in the folder stay, and the folder with them."""
    (used_home / "shop").mkdir()

    embedded_db("reset", "--noinput")

    assert [path.name for path in used_home.iterdir()] == ["shop"]


def test_four_starters_survive_a_reset(home, program, embedded_db):
    """Programs that start while a reset removes the folder come to one server all the same."""
    Server(home).places.create()
    programs = [program(home) for _ in range(4)]
    for user in programs:
        user.ask("start")
    while any(not select.select([user.process.stdout], [], [], 0)[0] for user in programs):
        with contextlib.suppress(CommandError, FileNotFoundError):
            embedded_db("reset", "--noinput")

    assert {user.answer() for user in programs} == {user.start() for user in programs}
    assert len({user.start() for user in programs}) == 1


def test_a_folder_says_whose_it_is(home):
    """Root's folder has a number for a name: a file in it names the project."""
    Server(home).places.create()

    assert str(CHECKOUT) in (home / "project.txt").read_text()


def test_reset_asks_first(used_home, embedded_db, monkeypatch):
    """Without a yes nothing is deleted."""
    monkeypatch.setattr("builtins.input", lambda question: "")

    with pytest.raises(CommandError, match="Nothing was deleted"):
        embedded_db("reset")

    assert Server(used_home).places.data.exists()


def test_reset_without_a_terminal_names_the_option(used_home, embedded_db, monkeypatch):
    """Where nobody can be asked nothing is deleted, and the way to say yes is named."""
    monkeypatch.setattr("sys.stdin", io.StringIO())

    with pytest.raises(CommandError, match="Nothing was deleted; use --noinput"):
        embedded_db("reset")

    assert Server(used_home).places.data.exists()


def test_status_tells_who_is_there(used_home, program, embedded_db):
    """status says whether the server runs, and whether somebody uses it."""
    before = json.loads(embedded_db("status", "--json"))
    process_id = program(used_home).start()
    during = json.loads(embedded_db("status", "--json"))

    assert (before["running"], before["in_use"]) == (False, False)
    assert (during["running"], during["in_use"]) == (True, True)
    assert during["process_id"] == process_id
    assert f"process id:    {process_id}" in embedded_db("status")


def test_status_starts_nothing(home, embedded_db):
    """Asking for the status of a server that never ran creates no file."""
    assert json.loads(embedded_db("status", "--json"))["running"] is False
    assert not home.exists()


def test_durable_by_default(used_home, program, connect):
    """Commits reach the disk: the demo promises what production promises."""
    program(used_home).start()

    assert connect(used_home).execute("SHOW fsync").fetchone() == ("on",)
    assert Path(Server(used_home).places.data).stat().st_mode & 0o077 == 0
