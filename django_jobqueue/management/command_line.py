"""How a command line is read: Django's options anywhere, and one that makes no sense told in one line."""

from __future__ import annotations

from argparse import SUPPRESS, Action, ArgumentParser, _HelpAction, _SubParsersAction
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from difflib import get_close_matches
from typing import Any, NoReturn

from django.core.management.base import CommandError, CommandParser


class OneLineParser(CommandParser):
    """Django's parser, with the error and nothing else."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse what is left: the parser of a subcommand knows its options, and the one above it does not."""
        found, strange = super().parse_known_args(args, namespace)
        if strange:
            self.error(f"unrecognized arguments: {' '.join(strange)}{self._meant(strange)}")
        return found, strange

    def _meant(self, strange: Sequence[str]) -> str:
        known = [option for option in self._option_string_actions if option.startswith("--")]
        options = [word.partition("=")[0] for word in strange if word.startswith("--")]
        near = [one for option in options for one in get_close_matches(option, known, n=1)]
        return f"; did you mean {' and '.join(near)}?" if near else ""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and leave with 2; where code has called the command, raise CommandError."""
        if self.called_from_command_line:
            self.exit(2, f"{self.prog}: {message}; {self.prog} --help tells more\n")
        raise CommandError(f"Error: {message}")


def tell_in_one_line(parser: CommandParser) -> CommandParser:
    """Make this of a parser and of those for its subcommands. Django names the class, and leaves no other way in."""
    parser.__class__ = OneLineParser
    for subparser in _subparsers(parser):
        tell_in_one_line(subparser)
    return parser


def take_options_anywhere(parser: CommandParser) -> CommandParser:
    """Let the options of a parser, such as Django's `--settings`, stand behind its subcommands too."""
    options = [action for action in parser._actions if action.option_strings and not isinstance(action, _HelpAction)]
    _repeat(options, parser)
    return parser


def unknown_backend(alias: str, known: Iterable[str]) -> str:
    """Say that --backend names no alias, and which there are."""
    return f"--backend {alias}: use an alias of TASKS: {', '.join(sorted(known)) or 'there is none'}"


def _repeat(options: list[Action], parser: ArgumentParser) -> None:
    for subparser in _subparsers(parser):
        for option in options:
            again = copy(option)
            # Without a default it leaves what stood before the subcommand as it is.
            again.default, again.help = SUPPRESS, SUPPRESS
            subparser._add_action(again)
        _repeat(options, subparser)


def _subparsers(parser: ArgumentParser) -> Iterator[CommandParser]:
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            yield from action.choices.values()
