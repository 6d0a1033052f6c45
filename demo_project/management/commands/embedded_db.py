"""``manage.py embedded_db``: look after the PostgreSQL that the demo brings with it."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from demo_project.embedded_pg.errors import EmbeddedServerError
from demo_project.embedded_pg.server import Server
from django_jobqueue.management.command_line import take_options_anywhere, tell_in_one_line


class Command(BaseCommand):
    help = "Show, stop or reset the embedded PostgreSQL of this checkout."
    requires_system_checks: list[str] = []  # it must help when nothing else works

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Read the line as the commands of the app do."""
        return tell_in_one_line(take_options_anywhere(super().create_parser(prog_name, subcommand, **kwargs)))

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="status|stop|reset")
        status = actions.add_parser("status", help="Say where it is and whether it runs.")
        status.add_argument("--json", action="store_true", help="Print one JSON object.")
        actions.add_parser("stop", help="Stop it now; the next connection starts it again.")
        reset = actions.add_parser("reset", help="Delete all its data.")
        reset.add_argument("--noinput", action="store_true", help="Do not ask.")

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        try:
            server = Server()
            match action:
                case "status":
                    self.status(server, as_json=options["json"])
                case "stop":
                    self.stop(server)
                case "reset":
                    self.reset(server, ask=not options["noinput"])
        except EmbeddedServerError as error:
            raise CommandError(str(error)) from error

    def status(self, server: Server, *, as_json: bool) -> None:
        facts = asdict(server.status())
        if as_json:
            self.stdout.write(json.dumps(facts))
            return
        for name, value in facts.items():
            words = {True: "yes", False: "no", None: "-"}.get(value, value)
            self.stdout.write(f"{name.replace('_', ' ') + ':':<14} {words}")

    def stop(self, server: Server) -> None:
        in_use = server.status().in_use
        if not server.stop():
            self.stdout.write("It was not running.")
        elif in_use:
            self.stdout.write("Stopped, although in use; the next connection starts it again.")
        else:
            self.stdout.write("Stopped.")

    def reset(self, server: Server, *, ask: bool) -> None:
        try:
            if ask and input(f"Delete all data in {server.places.cluster}? [y/N] ").lower() != "y":
                raise CommandError("Nothing was deleted.")
        except EOFError:
            raise CommandError("Nothing was deleted; use --noinput.") from None
        server.reset()
        self.stdout.write("The next connection starts with an empty server.")
