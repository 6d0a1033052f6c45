"""`manage.py runworker`: parse, check, and be a worker."""

from __future__ import annotations

import logging
import os
import signal
from argparse import ArgumentParser, ArgumentTypeError
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from django_jobqueue.compat import DEFAULT_TASK_BACKEND_ALIAS
from django_jobqueue.exceptions import JobQueueError
from django_jobqueue.management.command_line import tell_in_one_line

logger = logging.getLogger("django_jobqueue.worker")

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Command(BaseCommand):
    """Run jobs until told to stop."""

    help = "Run jobs. The first SIGTERM or Ctrl-C lets running jobs end, the second leaves within two seconds."

    owns_the_process = False
    """Whether this process is there for the worker alone, and not a program that has called it."""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Take options in full only: a unit file that says --proc must not change its meaning with a new option."""
        return tell_in_one_line(super().create_parser(prog_name, subcommand, **{"allow_abbrev": False} | kwargs))

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Say which jobs to take, with how many hands, and when to leave."""
        parser.add_argument(
            "--queue",
            action="append",
            type=partial(_queue, "--queue"),
            default=[],
            metavar="NAME",
            help="Serve this queue; NAME* is a prefix. May be repeated.",
        )
        parser.add_argument(
            "--exclude-queue",
            action="append",
            type=partial(_queue, "--exclude-queue"),
            default=[],
            metavar="NAME",
            help="Leave this queue alone. May be repeated.",
        )
        parser.add_argument(
            "--processes", type=_positive, help="Runner processes. Default: OPTIONS, else one for each CPU."
        )
        parser.add_argument(
            "--threads", type=_positive, help="Functions that a process runs at a time. Default: OPTIONS, else 1."
        )
        parser.add_argument("--coroutines", type=_not_negative, help="Coroutines that a process runs at a time.")
        parser.add_argument("--until-idle", action="store_true", help="Leave when nothing runs and nothing is due.")
        parser.add_argument("--max-jobs", type=_positive, help="Leave after so many jobs.")
        parser.add_argument(
            "--grace", type=_seconds, metavar="S", help="Seconds that running jobs get when the worker stops."
        )
        parser.add_argument("--backend", default=DEFAULT_TASK_BACKEND_ALIAS, help="Alias in TASKS.")

    def run_from_argv(self, argv: list[str]) -> None:
        """Be a worker to the end of this process: whenever it is told to stop, it leaves with 0."""
        self.owns_the_process = True
        for number in STOP_SIGNALS:
            signal.signal(number, _leave)
        try:
            super().run_from_argv(argv)
        finally:
            _hear_no_more()

    def handle(self, **given: Any) -> None:
        """Build the plan and run it."""
        from django_jobqueue.management.worker_plan import plan_for, queues_of_no_task
        from django_jobqueue.registry import discover

        if both := sorted({*given["queue"]} & {*given["exclude_queue"]}):
            words = f"--queue and --exclude-queue both name {', '.join(both)}; leave one of them out"
            raise CommandError(words, returncode=2)
        try:
            plan = plan_for(
                given["backend"],
                queues=tuple(given["queue"]),
                excluded_queues=tuple(given["exclude_queue"]),
                processes=given["processes"],
                threads=given["threads"],
                coroutines=given["coroutines"],
                grace_seconds=given["grace"],
                until_idle=given["until_idle"],
                max_jobs=given["max_jobs"],
            )
            registry = discover()
        except (JobQueueError, ImportError) as error:
            raise CommandError(str(error)) from error

        from django_jobqueue.worker.keeper import Keeper, WorkerFailed

        if strangers := queues_of_no_task(plan, registry):
            logger.info(strangers)
            if given["verbosity"]:
                self._say(f"{strangers[:1].upper()}{strangers[1:]}.")
        keeper = Keeper(plan, registry, self._say if given["verbosity"] else None)
        failure: WorkerFailed | None = None
        try:
            keeper.run()
        except WorkerFailed as error:
            failure = error
        if keeper.scribe.is_stuck and self.owns_the_process:
            # Nobody takes what it says. To end in good order the interpreter would wait for that, and for ever.
            os._exit(0 if failure is None else 1)
        if failure is not None:
            raise CommandError(str(failure)) from failure

    def _say(self, line: str) -> None:
        # Nobody need listen: a pipe whose reader has left, or no output at all, is no reason to stop running jobs.
        with suppress(OSError, ValueError, AttributeError):
            self.stdout.write(line)
            # To a file or a pipe Python prints in blocks; these lines are news.
            self.stdout.flush()


def _leave(_number: int, _frame: FrameType | None) -> None:
    _hear_no_more()
    raise SystemExit(0)


def _hear_no_more() -> None:
    # While it ends, Python puts the default handlers back, which would kill it; what is ignored stays so.
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"a whole number from 1; got {text!r}")
    return int(text)


def _queue(option: str, text: str) -> str:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ArgumentTypeError(f"the name of a queue, or a prefix like mail-*; got {text!r}")
    if "," in text:
        raise ArgumentTypeError(f"one queue each: type {' '.join(f'{option} {name}' for name in names)}; got {text!r}")
    prefix, *more = text.split("*")
    if any(more):
        raise ArgumentTypeError(f"an asterisk ends a prefix: type {option} '{prefix}*'; got {text!r}")
    return text


def _not_negative(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"a whole number from 0; got {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise ArgumentTypeError(f"seconds, 0 or more; got {text!r}")
    return seconds
