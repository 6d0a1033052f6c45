"""How a command line that makes no sense is told: in one line, not below a page of usage."""

from __future__ import annotations

from argparse import _SubParsersAction
from typing import NoReturn

from django.core.management.base import CommandError, CommandParser


class OneLineParser(CommandParser):
    """Django's parser, with the error and nothing else."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and leave with 2; where code has called the command, raise CommandError."""
        if self.called_from_command_line:
            self.exit(2, f"{self.prog}: {message}; {self.prog} --help tells more\n")
        raise CommandError(f"Error: {message}")


def tell_in_one_line(parser: CommandParser) -> CommandParser:
    """Make this of a parser and of those for its subcommands. Django names the class, and leaves no other way in."""
    parser.__class__ = OneLineParser
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for subparser in action.choices.values():
                tell_in_one_line(subparser)
    return parser
