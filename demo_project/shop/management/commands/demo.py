"""``manage.py demo``: the shop, its partners and two workers, until Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from demo_project.ports import LAST
from demo_project.processes import ChildFailed, Processes
from demo_project.shop.models import Product
from demo_project.shop.rehearsal.run import rehearse
from demo_project.shop.seed import ADMIN, admin_password, forget_the_past, seed
from demo_project.shop.stage import Stage
from django_jobqueue.management.command_line import tell_in_one_line


class Stopped(BaseException):
    """A signal asked for the end. Not an Exception, so that nothing on the way takes it for one."""


class Command(BaseCommand):
    help = "Run the demo shop with real jobs: a site, two workers, mail server and partners."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Take options in full only, and tell of a mistyped line in one of its own."""
        return tell_in_one_line(super().create_parser(prog_name, subcommand, **{"allow_abbrev": False} | kwargs))

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=_port, default=8000, help="Port wanted for the site.")
        parser.add_argument(
            "--once",
            action="store_true",
            help="Rehearse without a browser, in a fresh database; exit 0 if all is as it must.",
        )

    def handle(self, *args: Any, once: bool, port: int, verbosity: int, **options: Any) -> None:
        if sys.platform == "win32":
            raise CommandError("The demo needs processes as Linux and macOS have them. Use WSL.")
        _raise_on_signals()
        echo = self._echo if verbosity > 1 else lambda line: None
        try:
            with Processes(echo=echo) as processes:
                if once:
                    self._rehearse(processes)
                else:
                    self._open(processes, port)
        except ChildFailed as failure:
            raise CommandError(str(failure)) from None
        except Stopped:
            if once:
                raise CommandError("Stopped before the end.") from None
        self.stdout.write("Everything has ended.") if not once else None

    def _open(self, processes: Processes, port: int) -> None:
        state = Path(settings.SHOP_STATE_DIR)
        with only_demo(state) as address:
            self._open_alone(processes, port, state, address)

    def _open_alone(self, processes: Processes, port: int, state: Path, address: Path) -> None:
        call_command("migrate", verbosity=0, interactive=False)
        if not Product.objects.exists():
            forget_the_past(state)
        seed()
        password = admin_password()
        stage = Stage(processes, state, {})
        try:
            stage.start_partners()
            stage.start_site(port)
            address.write_text(stage.url)
            stage.start_workers()
            stage.wait_until_open()
            self._greet(stage.url, port, password)
            self._watch(processes)
        finally:
            _ignore_signals()
            stage.close()

    def _greet(self, url: str, wanted_port: int, password: str) -> None:
        elsewhere = "" if url.endswith(f":{wanted_port}/") else f" (somebody else has port {wanted_port})"
        self.stdout.write(
            f"""
  The shop is open:  {self.style.SUCCESS(url)}{elsewhere}
  Its admin:         {url}admin/
  Log in with:       {ADMIN} / {password}

  Ctrl-C closes it. `manage.py demo -v 2` shows what each process says.
"""
        )
        self.stdout.flush()

    def _watch(self, processes: Processes) -> None:
        """Sleep until a signal, or until a child dies, which ends the demo."""
        never = threading.Event()
        while not never.wait(0.5):
            for child in processes.dead():
                raise ChildFailed(child.last_words("died"))

    def _rehearse(self, processes: Processes) -> None:
        begin = time.monotonic()
        differences = rehearse(processes, self._say)
        seconds = time.monotonic() - begin
        if differences:
            text = "\n".join(f"  {difference}" for difference in differences)
            raise CommandError(f"Not as it must be, after {seconds:.0f} s:\n{text}")
        self._say(self.style.SUCCESS(f"All figures are as they must be, after {seconds:.0f} s."))

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()

    def _echo(self, line: str) -> None:
        # Several threads echo: one call with the end of the line in it keeps lines whole.
        self.stdout.write(f"{line}\n", ending="")
        self.stdout.flush()


@contextmanager
def only_demo(state: Path) -> Iterator[Path]:
    """Keep a second demo out of this state folder: it would give the admin another password.

    Answers the file in which to write the address. Raises CommandError, which names the address of the first.
    """
    from demo_project.embedded_pg.locks import try_lock  # not at the top: Windows has no fcntl, but gets a sentence

    state.mkdir(parents=True, exist_ok=True)
    file = state / "demo.lock"
    lock = try_lock(file)
    if lock is None:
        address = file.read_text()
        raise CommandError(f"A demo runs already{address and f', at {address}'}; stop it first.")
    try:
        os.truncate(lock, 0)  # what a demo that was killed left there
        yield file
    finally:
        os.close(lock)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > LAST:
        raise ArgumentTypeError(f"a number up to {LAST}, where 0 is any port; got {text!r}")
    return int(text)


def _raise_on_signals() -> None:
    """End on Ctrl-C and SIGTERM alike; a shell starts its background jobs with Ctrl-C ignored."""

    def stop(number: int, frame: object) -> None:
        _ignore_signals()  # the ending takes its seconds; a second Ctrl-C must not cut it short
        raise Stopped

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)


def _ignore_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
