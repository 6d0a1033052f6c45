"""`jobqueue dead …`: list, show, replay and discard dead letters."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable
from functools import partial
from typing import Any

from django.db.models import OuterRef, Q, QuerySet, Subquery

from django_jobqueue import operations
from django_jobqueue.exceptions import InvalidPayload, Refused
from django_jobqueue.management.jobqueue.many import Told, do_to_each
from django_jobqueue.management.jobqueue.options import (
    add_act_options,
    add_choice_options,
    add_common_options,
    add_list_options,
    chosen,
    filter_hints,
    given,
    is_no_task,
)
from django_jobqueue.management.jobqueue.story import row, tell
from django_jobqueue.management.jobqueue.terminal import Terminal, Usage
from django_jobqueue.models import Attempt, DeadLetter, Job
from django_jobqueue.policy.lifecycle import Reason
from django_jobqueue.shown import text, veil_named
from django_jobqueue.watch.glance import glance

_STATUSES = [status.lower() for status in DeadLetter.Status.values]


def add_parsers(subjects: Any) -> None:
    """Add `dead list`, `dead show`, `dead replay` and `dead discard`."""
    verbs = subjects.add_parser("dead", help="dead letters").add_subparsers(required=True)

    parser: argparse.ArgumentParser = verbs.add_parser("list", help="the letters that wait, newest death first")
    parser.add_argument(
        "--status", type=str.lower, choices=[*_STATUSES, "all"], default="open", help="default %(default)s"
    )
    _add_filters(parser)
    add_list_options(parser)
    add_common_options(parser, list_letters)

    parser = verbs.add_parser("show", help="one letter, with its job, attempts and audit trail")
    parser.add_argument("id", type=int, nargs="?", help="of the letter")
    parser.add_argument("--job", type=int, metavar="ID", help="the letter of this job instead")
    add_common_options(parser, show_letter)

    parser = verbs.add_parser("replay", help="start the jobs of letters again")
    _add_names(parser)
    _add_filters(parser)
    add_choice_options(parser)
    parser.add_argument("--per-second", type=float, metavar="N", help="replay no more than so many a second")
    # Django keeps the name `args` to itself.
    for name, kind in (("args", list), ("kwargs", dict)):
        words: dict[str, Any] = {
            "dest": f"new_{name}",
            "metavar": "JSON",
            "help": "run with these instead; for a single id",
        }
        parser.add_argument(f"--{name}", type=_json_of(kind), **words)
    add_act_options(parser)
    add_common_options(parser, replay_letters)

    parser = verbs.add_parser("discard", help="say that letters need nothing more")
    _add_names(parser)
    _add_filters(parser)
    add_choice_options(parser)
    add_act_options(parser, reason_required=True)
    add_common_options(parser, discard_letters)


def list_letters(terminal: Terminal, using: str, options: dict[str, Any]) -> bool:
    """List letters of one status, or of all."""
    status = options["status"].upper()
    with glance(using):
        letters = DeadLetter.objects.using(using).filter(**_filters(options)).select_related("job")
        if status != "ALL":
            letters = letters.filter(status=status)
        if options["before"] is not None:
            letters = letters.filter(_below(options["before"], using, by_death=status == "OPEN"))
        # Open letters have an index by death; the others are found by id.
        letters = letters.order_by("-last_died_at", "-id") if status == "OPEN" else letters.order_by("-id")
        rows = list(_with_last_error(letters, using)[: options["limit"]])
    document = {"dead_letters": [_document(letter) for letter in rows]}
    terminal.answer(document, _lines(terminal, rows, options))
    return True


def show_letter(terminal: Terminal, using: str, options: dict[str, Any]) -> bool:
    """Show one letter and all that belongs to it."""
    by_id = options["job"] is None
    if by_id == (options["id"] is None):
        raise Usage("name the letter's id, or its job's with --job")
    with glance(using):
        letters = DeadLetter.objects.using(using).select_related("job")
        letter = letters.filter(pk=options["id"]).first() if by_id else letters.filter(job__id=options["job"]).first()
        if letter is None:
            raise Refused("not_found", f"there is no dead letter {options['id']}" if by_id else _none(options["job"]))
        tell(terminal, letter.job, letter, using)
    return True


def replay_letters(terminal: Terminal, using: str, options: dict[str, Any]) -> bool:
    """Replay the letters that were named, or the open ones that a filter finds."""
    edit = given(options, new_args="args", new_kwargs="kwargs")
    if edit and len(options["ids"]) + len(options["jobs"]) != 1:
        raise Usage("--args and --kwargs edit one letter; name it")
    if options["per_second"] is not None and not options["per_second"] > 0:
        raise Usage("--per-second takes a number above 0")

    def replay(letter_id: int | str) -> Told:
        try:
            job = operations.replay(letter_id, by=options["by"], reason=options["reason_text"], using=using, **edit)
        except InvalidPayload as error:
            raise _with_way_out(error, edit) from error
        return _told(letter_id, job.pk, job.task)

    ids, per_second = _ids(using, options), options["per_second"]
    return do_to_each(terminal, ids, replay, done="replayed", per_second=per_second, **_where_none(options))


def discard_letters(terminal: Terminal, using: str, options: dict[str, Any]) -> bool:
    """Discard the letters that were named, or the open ones that a filter finds."""
    if not options["reason_text"].strip():
        raise Usage("--reason-text is empty; say why they need nothing more")

    def discard(letter_id: int | str) -> Told:
        letter = operations.discard(letter_id, by=options["by"], reason=options["reason_text"], using=using)
        # Not the whole job: it may hold what cannot be read.
        task = Job.objects.using(using).filter(pk=letter.job_id).values_list("task", flat=True).get()
        return _told(letter.pk, letter.job_id, task)

    return do_to_each(terminal, _ids(using, options), discard, done="discarded", **_where_none(options))


def _where_none(options: dict[str, Any]) -> dict[str, Any]:
    """What to say where a filter finds nothing, and whether that ends with 1."""
    return {"hints": partial(filter_hints, options), "is_mistyped": partial(is_no_task, options)}


def _with_way_out(error: InvalidPayload, edit: dict[str, Any]) -> InvalidPayload:
    """Say what to type where --kwargs alone was given, and the job was enqueued with that argument by position."""
    place = re.fullmatch(r"is given twice; it is (args\[\d+\]) too", str(error).removeprefix(f"{error.path}: "))
    if place is None or "args" in edit:
        return error
    cure = f"it is {place[1]} of the stored job too: also pass --args '[]' to leave those out"
    return InvalidPayload(error.path, cure)


def _told(letter_id: int | str, job_id: int, task: str) -> Told:
    document = {"id": int(letter_id), "job_id": job_id, "task": task}
    return Told(f"letter {letter_id}: job {job_id} {task}", document)


def _add_names(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID", help="of letters, not of jobs; or give a filter, for open ones")
    words: dict[str, Any] = {"dest": "jobs", "type": int, "action": "append", "default": [], "metavar": "ID"}
    parser.add_argument("--job", **words, help="the letter of this job; may be repeated")


def _add_filters(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--task", metavar="NAME", help="stored name of the task")
    parser.add_argument("--queue", metavar="NAME")
    parser.add_argument("--reason", type=str.lower, choices=[reason.value for reason in Reason], help="why they died")
    parser.add_argument("--fingerprint", metavar="HEX", help="deaths of a kind, as `dead show` names it")


def _filters(options: dict[str, Any]) -> dict[str, Any]:
    return given(options, task="job__task", queue="job__queue_name", reason="reason", fingerprint="fingerprint")


def _ids(using: str, options: dict[str, Any]) -> Iterable[int | str]:
    filters = _filters(options)
    if chosen([*options["ids"], *options["jobs"]], filters, everything=options["all"], sure=options["yes"]):
        return dict.fromkeys([*options["ids"], *(_letter_of(job_id, using) for job_id in options["jobs"])])
    with glance(using):
        # Oldest death first: who dies again meanwhile is not met twice.
        letters = DeadLetter.objects.using(using).filter(status=DeadLetter.Status.OPEN, **filters)
        return list(letters.order_by("last_died_at", "id").values_list("pk", flat=True)[: options["limit"]])


def _letter_of(job_id: int, using: str) -> str:
    letter_id = DeadLetter.objects.using(using).filter(job__id=job_id).values_list("pk", flat=True).first()
    if letter_id is None:
        raise Refused("not_found", _none(job_id))
    return str(letter_id)


def _none(job_id: int) -> str:
    return f"there is no dead letter of job {job_id}"


def _below(letter_id: int, using: str, *, by_death: bool) -> Q:
    """What comes after a letter in a list."""
    if not by_death:
        return Q(pk__lt=letter_id)
    died_at = DeadLetter.objects.using(using).filter(pk=letter_id).values_list("last_died_at", flat=True).first()
    if died_at is None:
        raise Refused("not_found", f"there is no dead letter {letter_id}")
    # The first part says nothing new, but lets PostgreSQL begin at the right place of the index.
    return Q(last_died_at__lte=died_at) & (Q(last_died_at__lt=died_at) | Q(pk__lt=letter_id))


def _with_last_error(letters: QuerySet[DeadLetter], using: str) -> QuerySet[Any]:
    last = Attempt.objects.using(using).filter(job=OuterRef("job_id")).order_by("-number")
    return letters.annotate(
        exception_class=Subquery(last.values("exception_class")[:1]), message=Subquery(last.values("message")[:1])
    )


def _document(letter: Any) -> dict[str, Any]:
    about_job = {"task": letter.job.task, "queue_name": letter.job.queue_name}
    return row(letter) | {"note": text(letter.note, _secrets(letter))} | about_job | _error_columns(letter)


def _secrets(letter: Any) -> set[str]:
    """Collect what its words must not quote: they may be older than what its task has named since."""
    return veil_named(letter.job.task).secrets_in(letter.job.args, letter.job.kwargs)


def _error_columns(letter: Any) -> dict[str, str | None]:
    secrets = _secrets(letter)
    words = {name: getattr(letter, name) for name in ("exception_class", "message")}
    return {name: None if said is None else text(said, secrets) for name, said in words.items()}


def _lines(terminal: Terminal, letters: list[Any], options: dict[str, Any]) -> list[str]:
    if not letters:
        return ["no dead letters", *filter_hints(options)]
    headings = ["id", "job", "task", "queue", "status", "reason", "deaths", "died", "error"]
    cells = [
        [
            letter.pk, letter.job_id, letter.job.task, letter.job.queue_name, letter.status, letter.reason,
            letter.deaths, letter.last_died_at, ": ".join(filter(None, _error_columns(letter).values())),
        ]
        for letter in letters
    ]  # fmt: skip
    return terminal.table(headings, cells)


def _json_of(kind: type) -> Any:
    def read(typed: str) -> Any:
        try:
            value = json.loads(typed)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"is not JSON: {error}") from None
        if not isinstance(value, kind):
            raise argparse.ArgumentTypeError(f"takes a JSON {'array' if kind is list else 'object'}")
        return value

    return read
