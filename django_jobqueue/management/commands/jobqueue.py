"""`manage.py jobqueue`: look at the queue and answer its dead letters, in a terminal or a script."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError, ProgrammingError, connections
from django.utils.connection import ConnectionDoesNotExist

from django_jobqueue.backend import postgresql_remedy
from django_jobqueue.database import queue_database
from django_jobqueue.exceptions import InvalidOptions, InvalidPayload, MissingTables, Refused
from django_jobqueue.management.command_line import take_options_anywhere, tell_in_one_line, unknown_backend
from django_jobqueue.management.jobqueue import breakers, dead, jobs, limits, pauses, prune, stats
from django_jobqueue.management.jobqueue.terminal import Terminal, Usage
from django_jobqueue.shown import text


class Command(BaseCommand):
    """Parse, find the database, run the subcommand, and turn whatever stops it into one clear line."""

    help = "Look at the job queue, and answer its dead letters."
    # They look at databases and templates; a person in a hurry needs neither.
    requires_system_checks = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Take Django's options anywhere, and tell of a mistyped line in one of its own."""
        return tell_in_one_line(take_options_anywhere(super().create_parser(prog_name, subcommand, **kwargs)))

    def add_arguments(self, parser: CommandParser) -> None:
        """Let each subject add its parsers."""
        subjects = parser.add_subparsers(title="subjects", required=True)
        for subject in (stats, dead, jobs, pauses, limits, breakers, prune):
            subject.add_parsers(subjects)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run it. Refused and unusable end with 1, nonsense with 2."""
        terminal = Terminal(self.stdout, self.style, options["json"])
        try:
            done = options["run"](terminal, _usable_database(options["backend"]), options)
        except Usage as error:
            self._fail(terminal, "usage", str(error), 2)
        except Refused as refused:
            self._fail(terminal, refused.code, str(refused), 1)
        except InvalidPayload as error:
            self._fail(terminal, "invalid_payload", str(error), 1)
        except InvalidOptions as error:
            self._fail(terminal, "invalid_options", str(error), 1)
        except ProgrammingError as error:
            if _sqlstate(error) not in ("42P01", "42703"):  # undefined_table, undefined_column
                raise
            self._fail(terminal, "not_migrated", str(MissingTables(queue_database(options["backend"]))), 1)
        except OperationalError as error:
            timed_out = _sqlstate(error) == "57014"  # query_canceled
            message = (
                "PostgreSQL takes too long over it; try it later, or name ids" if timed_out else str(error).strip()
            )
            self._fail(terminal, "timed_out" if timed_out else "database", message, 1)
        else:
            if not done:
                raise SystemExit(1)

    def _fail(self, terminal: Terminal, code: str, message: str, returncode: int) -> None:
        message = text(message)
        if terminal.as_json:
            terminal.answer({"error": {"code": code, "message": message}}, ())
            raise SystemExit(returncode)
        raise CommandError(message, returncode=returncode)


def _usable_database(backend: str) -> str:
    if backend != "default" and backend not in getattr(settings, "TASKS", {}):
        raise Usage(unknown_backend(backend, getattr(settings, "TASKS", {})))
    using = queue_database(backend)
    try:
        connection = connections[using]
    except ConnectionDoesNotExist:
        raise Refused("database", f"the database {using!r} of the job queue is not in DATABASES") from None
    if connection.vendor != "postgresql":
        raise Refused(
            "not_postgresql",
            f"the job queue needs PostgreSQL, and the database {using!r} is {connection.display_name}; "
            f"{postgresql_remedy(backend, using)}",
        )
    return using


def _sqlstate(error: Exception) -> str | None:
    return getattr(error.__cause__, "sqlstate", None)
