"""What a project may set: the OPTIONS of one TASKS alias, as one frozen value.

    TASKS = {
        "default": {
            "BACKEND": "django_jobqueue.backend.JobQueueBackend",
            "OPTIONS": {"lease_seconds": 60},
        },
    }

A new option is a field here with its docstring, its unit, its default and its bounds; checks,
errors and documentation read them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any

from django_jobqueue import queue_policy
from django_jobqueue.exceptions import InvalidOptions
from django_jobqueue.queue_policy import NO_POLICY, QueuePolicy

MAX_ATTEMPTS = 32_767
"""The most that `max_attempts` may say, here and on a task."""

MAX_JSON_BYTES = 2 * 1024 * 1024
"""The most that `max_payload_bytes` and `max_result_bytes` may say.

jsonb takes up to six times the bytes of the text (`[0,0,…]`), and a constraint of the table ends at 16 MiB.
"""

OWN_SOURCES = ("env", "settings")
"""Where a Secret may look without more being said."""

SOURCE_NAME = re.compile(r"[a-z][a-z0-9_-]{0,30}")
"""How a source of secrets may be called; it stands before the colon of a reference."""

_DAY = 24 * 3600


def _number(default: float, *, minimum: float, maximum: float = 30 * _DAY, may_be_none: bool = False) -> Any:
    bounds = {"minimum": minimum, "maximum": maximum, "may_be_none": may_be_none}
    return field(default=default, metadata={"kind": float, **bounds})


def _integer(default: int | None, *, minimum: int, maximum: int) -> Any:
    return field(default=default, metadata={"kind": int, "minimum": minimum, "maximum": maximum})


def _switch(default: bool) -> Any:
    return field(default=default, metadata={"kind": bool})


def _text(default: str) -> Any:
    return field(default=default, metadata={"kind": str})


def _word(default: str, *others: str) -> Any:
    return field(default=default, metadata={"kind": str, "words": (default, *others)})


def _paths() -> Any:
    return field(default=None, hash=False, metadata={"kind": Mapping})


def _rules() -> Any:
    return field(default=None, hash=False, metadata={"kind": QueuePolicy})


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """OPTIONS of one TASKS alias.

    An Options that exists is valid; the constructor raises InvalidOptions.
    """

    database: str = _text("default")
    """Alias in DATABASES of the queue's tables. Default "default"."""

    transaction_database: str = _text("default")
    """Alias in DATABASES of the rows that jobs are about, where that is another one than `database`.

    A job that is asked for in a transaction there is inserted after its commit. Default "default".
    """

    max_attempts: int = _integer(3, minimum=1, maximum=MAX_ATTEMPTS)
    """Charged attempts a job has before it is a dead letter; a task may set its own. Default 3."""

    max_interruptions: int = _integer(20, minimum=0, maximum=MAX_ATTEMPTS)
    """Interruptions by deploys and outages, which are not charged, before a job is a dead letter.

    Default 20.
    """

    max_snoozes: int = _integer(1000, minimum=0, maximum=1_000_000)
    """Times a job may snooze before it is a dead letter. Default 1000."""

    max_payload_bytes: int = _integer(256 * 1024, minimum=1024, maximum=MAX_JSON_BYTES)
    """Most that the arguments of a job, as JSON in UTF-8, may take.

    Bytes; default 262144 (256 KiB).
    """

    max_result_bytes: int = _integer(256 * 1024, minimum=1024, maximum=MAX_JSON_BYTES)
    """Most that the return value of a job, as JSON in UTF-8, may take.

    Bytes; default 262144 (256 KiB).
    """

    unknown_task_seconds: float = _number(float(_DAY), minimum=60)
    """How long a job waits for a worker that knows its task, or its version, before it is a dead letter.

    Seconds; default 86400 (a day).
    """

    keep_effects_seconds: float = _number(30.0 * _DAY, minimum=60, maximum=3650 * _DAY)
    """How long `once` remembers what was done, at least.

    Seconds; default 2592000 (30 days).
    """

    secrets: str = _word("warn", "refuse", "ignore")
    """What is done at the enqueue with arguments that look like secrets: "warn", "refuse" or "ignore".

    They are hidden wherever a job is shown, whatever this says. Default "warn".
    """

    secret_sources: Mapping[str, str] | None = _paths()
    """Where a Secret may look besides "settings" and "env": {"vault": "shop.vault.read"}.

    The path is that of a function which gets a name and returns the secret as text. Default None.
    """

    queues: Mapping[str, Any] | None = _rules()
    """The rules of queues, by name: `{"mail": {"max_running": 4}}`. None is none; default None."""

    notify: bool = _switch(True)
    """Wake idle workers by NOTIFY when a job is enqueued; else they find it when they poll.

    Default True.
    """

    lease_seconds: float = _number(30.0, minimum=1, maximum=_DAY)
    """How long a claimed job is a worker's own without a renewal.

    The jobs of a worker that died wait this long. Seconds; default 30.
    """

    renew_seconds: float = _number(10.0, minimum=0.1, maximum=_DAY / 2)
    """Time between two renewals of a lease, at most half of lease_seconds.

    Seconds; default a third of lease_seconds: 10.
    """

    rescue_seconds: float = _number(5.0, minimum=0.1, maximum=_DAY)
    """Time between two looks for leases that ran out. Seconds; default 5."""

    aging_seconds: float | None = _number(300.0, minimum=1, may_be_none=True)
    """How long a ready job lets others of higher priority go before it: then a part of the places is for the oldest.

    Seconds; None is for ever; default 300.
    """

    poll_seconds: float = _number(1.1, minimum=0.05, maximum=3600)
    """Longest wait of an idle worker before it looks for jobs by itself. Seconds; default 1.1."""

    grace_seconds: float = _number(25.0, minimum=0, maximum=_DAY)
    """Time that running jobs get to end when a worker is asked to stop. Seconds; default 25."""

    processes: int | None = _integer(None, minimum=1, maximum=1024)
    """Runner processes of a worker. None is one for each CPU; default None."""

    threads: int = _integer(1, minimum=1, maximum=1024)
    """Functions that one runner process runs at a time. Default 1."""

    coroutines: int = _integer(10, minimum=0, maximum=10_000)
    """Coroutines that one runner process runs at a time. Default 10."""

    max_jobs_per_process: int | None = _integer(None, minimum=1, maximum=1_000_000_000)
    """Jobs after which a runner process is replaced by a fresh one, once it is empty. None is never; default None."""

    max_process_bytes: int | None = _integer(None, minimum=1_000_000, maximum=10**15)
    """Resident memory above which a runner process is replaced by a fresh one, once it is empty. Linux.

    Bytes; None is no limit; default None.
    """

    def __post_init__(self) -> None:
        given = {option.name: getattr(self, option.name) for option in fields(self)}
        faults = _wrong(given) or _contradictory(given)
        if faults:
            raise InvalidOptions("; ".join(faults))

    @property
    def schemes(self) -> frozenset[str]:
        """What may stand before the colon of a Secret."""
        return frozenset((*OWN_SOURCES, *(self.secret_sources or ())))

    def queue(self, name: str) -> QueuePolicy:
        """The rules of a queue."""
        rules = (self.queues or {}).get(name)
        return NO_POLICY if rules is None else QueuePolicy(**rules)

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> Options:
        """Build the Options from what settings say.

        Raises InvalidOptions, which names every fault.
        """
        faults = problems(mapping)
        if faults:
            raise InvalidOptions("; ".join(faults))
        return cls(**_completed(mapping))


def problems(mapping: Any) -> list[str]:
    """Name every fault in OPTIONS, each with what to type instead; empty if there is none."""
    if not isinstance(mapping, Mapping):
        return [f"OPTIONS is a dict of option names and values; got {mapping!r}"]
    wrong = _wrong(mapping)
    return [*_unknown(mapping), *wrong, *([] if wrong else _contradictory(_completed(mapping)))]


def unknown_option(name: object, known: list[str]) -> str:
    """Say that an option is unknown, with the nearest known name or the list of them."""
    near = get_close_matches(str(name), known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(known))}"
    return f"unknown option {name!r}; {hint}"


def _completed(mapping: Mapping[str, Any]) -> dict[str, Any]:
    given = dict(mapping)
    if "lease_seconds" in given:
        given.setdefault("renew_seconds", given["lease_seconds"] / 3)
    return given


def _unknown(mapping: Mapping[str, Any]) -> list[str]:
    known = [option.name for option in fields(Options)]
    return [unknown_option(name, known) for name in mapping if name not in known]


def _wrong(mapping: Mapping[str, Any]) -> list[str]:
    faults = []
    for option in fields(Options):
        if option.name not in mapping:
            continue
        value = mapping[option.name]
        if value is None and (option.default is None or option.metadata.get("may_be_none")):
            continue
        if option.metadata["kind"] is QueuePolicy:
            faults += queue_policy.problems(value)
            continue
        expected = _expected(value, option.metadata)
        if expected:
            faults.append(f"{option.name} is {expected}; got {value!r}")
    return faults


def _expected(value: Any, bounds: Mapping[str, Any]) -> str:
    """Say what an option takes if `value` is not it; else nothing."""
    kind = bounds["kind"]
    if kind is bool:
        return "" if isinstance(value, bool) else "True or False"
    if words := bounds.get("words"):
        return "" if value in words else " or ".join(repr(word) for word in words)
    if kind is Mapping:
        return "" if _are_paths(value) else _PATHS
    if kind is str:
        return "" if isinstance(value, str) and value else "a name"
    numeric = isinstance(value, int) if kind is int else isinstance(value, int | float)
    if numeric and not isinstance(value, bool) and bounds["minimum"] <= value <= bounds["maximum"]:
        return ""
    noun = "a whole number" if kind is int else "a number of seconds"
    return f"{noun} from {bounds['minimum']} to {bounds['maximum']:.0f}"


_PATHS = (
    'a dict of names and dotted paths, as in {"vault": "shop.vault.read"}; '
    f"a name has up to 31 small letters, digits, _ and -, and {' and '.join(OWN_SOURCES)} are taken"
)


def _are_paths(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str)
        and SOURCE_NAME.fullmatch(name)
        and name not in OWN_SOURCES
        and isinstance(path, str)
        and "." in path.strip(".")
        for name, path in value.items()
    )


def _contradictory(mapping: Mapping[str, Any]) -> list[str]:
    lease = mapping.get("lease_seconds", Options.__dataclass_fields__["lease_seconds"].default)
    renew = mapping.get("renew_seconds", Options.__dataclass_fields__["renew_seconds"].default)
    # At more than half, one late renewal loses a lease whose worker is well.
    if renew > lease / 2:
        return [
            f"renew_seconds {renew:g} is more than half of lease_seconds {lease:g}; "
            f"use {lease / 3:g}, or a longer lease"
        ]
    return []
