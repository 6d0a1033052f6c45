"""OPTIONS: every fault is named, with what to type."""

from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest

from django_jobqueue import conf
from django_jobqueue.conf import Options, problems
from django_jobqueue.exceptions import InvalidOptions

NUMBERS = [o.name for o in fields(Options) if o.metadata["kind"] in (int, float)]


def test_nothing_need_be_set():
    """An empty OPTIONS gives the documented defaults."""
    options = Options.from_mapping({})

    assert options == Options()
    assert (options.database, options.lease_seconds, options.renew_seconds) == ("default", 30, 10)
    assert (options.max_attempts, options.max_payload_bytes) == (3, 262_144)


def test_an_unknown_option_names_the_nearest():
    """A typo is answered with the word that was meant."""
    assert problems({"lease_secs": 30}) == ["unknown option 'lease_secs'; did you mean 'lease_seconds'?"]


def test_an_unknown_option_like_no_other_lists_them_all():
    """What resembles nothing is answered with what there is."""
    (fault,) = problems({"colour": "red"})

    assert fault.startswith("unknown option 'colour'; known are ")
    assert all(option.name in fault for option in fields(Options))


def test_every_fault_is_named_at_once():
    """Nobody corrects OPTIONS one error at a time."""
    with pytest.raises(InvalidOptions) as refused:
        Options.from_mapping({"lease_secs": 1, "threads": 0, "notify": "yes"})

    assert "lease_secs" in str(refused.value)
    assert "threads is a whole number from 1 to 1024; got 0" in str(refused.value)
    assert "notify is True or False; got 'yes'" in str(refused.value)


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", ["10", True, float("nan"), float("inf"), -1, 10**400, [1]])
def test_a_number_is_a_number_within_bounds(name, value):
    """Text, booleans and numbers that no one can mean are refused by every numeric option."""
    assert [fault.split(" ")[0] for fault in problems({name: value})] == [name]


def test_whole_numbers_are_whole():
    """Half a thread is refused; half a second is not."""
    assert problems({"threads": 1.5})
    assert not problems({"poll_seconds": 0.5})


@pytest.mark.parametrize("value", ["", None, 5, ["default"]])
def test_a_database_is_a_name(value):
    """OPTIONS['database'] is an alias, not a configuration."""
    (fault,) = problems({"database": value})

    assert fault.startswith("database is a name; got ")


def test_processes_may_be_left_to_the_machine():
    """None means as many runners as there are CPUs."""
    assert Options.from_mapping({"processes": None}).processes is None
    assert problems({"threads": None})


def test_a_lease_is_a_second_at_least():
    """A lease shorter than the hiccups of a network would be lost all the time."""
    assert problems({"lease_seconds": 0.5})
    assert not problems({"lease_seconds": 1})


def test_renewals_follow_the_lease():
    """Who sets a lease need not set its renewal."""
    assert Options.from_mapping({"lease_seconds": 3}).renew_seconds == 1


def test_a_renewal_too_late_is_refused():
    """At more than half of the lease, one late renewal would lose the job."""
    assert problems({"lease_seconds": 30, "renew_seconds": 16}) == [
        "renew_seconds 16 is more than half of lease_seconds 30; use 10, or a longer lease"
    ]
    assert not problems({"lease_seconds": 30, "renew_seconds": 15})


def test_invalid_options_cannot_be_built():
    """Who holds an Options need not ask whether it makes sense."""
    with pytest.raises(InvalidOptions, match="more than half"):
        Options(lease_seconds=3)
    with pytest.raises(InvalidOptions, match="threads"):
        Options(threads=0)


@pytest.mark.parametrize("mapping", [[], "lease_seconds", 5])
def test_options_are_a_dict(mapping):
    """OPTIONS of another kind is named as such."""
    (fault,) = problems(mapping)

    assert fault.startswith("OPTIONS is a dict")


def test_options_are_frozen():
    """No part of the app can change another's options."""
    with pytest.raises(FrozenInstanceError):
        Options().threads = 2


def test_every_option_is_documented_with_its_default():
    """The docstring under each field states the default that holds."""
    source = Path(conf.__file__).read_text("utf-8")
    for option in fields(Options):
        text = source.split(f"    {option.name}: ")[1].split('"""')[1]
        default = option.default
        shown = f"{default:.10g}" if isinstance(default, float) else str(default)
        assert "efault" in text, option.name
        assert shown in text, option.name


def test_bounds_are_written_in_figures():
    """A message shows large bounds as a person would type them."""
    with pytest.raises(InvalidOptions, match="a whole number from 1000000 to 1000000000000000; got 5"):
        Options(max_process_bytes=5)
    with pytest.raises(InvalidOptions, match=r"a number of seconds from 0\.1 to 43200; got 0"):
        Options(renew_seconds=0)
