"""`manage.py runworker`: command lines that make no sense are refused before anything starts."""

import pytest
from django.core.management import CommandError, call_command

from django_jobqueue.management.commands.runworker import Command


def test_a_queue_that_is_asked_for_and_excluded_is_refused():
    """A worker of no queue would idle for ever without a word."""
    with pytest.raises(CommandError, match="both name mail;"):
        call_command("runworker", "--queue", "mail", "--queue", "web", "--exclude-queue", "mail")


def test_options_are_not_abbreviated():
    """--proc is unknown, so that it cannot come to mean another option."""
    with pytest.raises(CommandError, match="unrecognized arguments: --proc"):
        Command().create_parser("manage.py", "runworker").parse_args(["--proc", "2"])
