"""What is sensitive is shown nowhere: not on a page, in a command, in a list, in what is stored of an error."""

import io
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import msgspec
import pydantic
import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command

from django_jobqueue import shown, task
from django_jobqueue.models import Attempt, AuditEntry, DeadLetter, Job
from django_jobqueue.testing import run_jobs
from tests import tasks as cast

pytestmark = pytest.mark.django_db

GONE = "a.task.that.the.next.release.has.not"
NEEDLE = "green lantern river"


@task(sensitive=("ibans",), max_attempts=1)
def pay_all(*ibans):
    raise ValueError(f"no account {ibans[0]}")


@task(sensitive=("details",), max_attempts=1)
def pay_with(**details):
    raise ValueError(f"no account {details['iban']}")


@task(sensitive=("pins", "details"))
def take_short_ones(*pins, **details):
    """Quote nothing: of so short a value no text is searched."""


@task(sensitive=("name",), max_attempts=1)
def find_customer(name):
    raise KeyError(f'no customer "{name}"')


@task(sensitive=("account",), max_attempts=1)
def give_number(account):
    return {"account_found": account}


@task(sensitive=("name",), max_attempts=1)
def name_a_class(name):
    raise type(f"No{name}", (Exception,), {})("it fails")


class Row(msgspec.Struct, array_like=True):
    iban: str


Item = TypeVar("Item")


class Pair(msgspec.Struct, Generic[Item], array_like=True):
    iban: str
    item: Item


class Line(NamedTuple):
    iban: str


class Box(msgspec.Struct):
    pairs: list[Pair[int]]


class Sheet(pydantic.BaseModel):
    lines: list[Line]


@dataclass
class Book:
    rows: dict[str, list[Row]]


@task(sensitive=("iban",), max_attempts=1)
def take_row(row: Row | None):
    raise ValueError(f"no account {row.iban}")


@task(sensitive=("iban",), max_attempts=1)
def take_box(box: Box):
    raise ValueError(f"no account {box.pairs[0].iban}")


@task(sensitive=("iban",), max_attempts=1)
def take_sheet(sheet: Sheet):
    raise ValueError(f"no account {sheet.lines[0].iban}")


@task(sensitive=("iban",), max_attempts=1)
def take_books(*, books: list[Book]):
    raise ValueError(f"no account {books}")


@pytest.fixture
def seen(client):
    """Answer with all that is told of a job, by where it is told."""
    client.force_login(get_user_model().objects.create_superuser("ada", "ada@example.com", "x"))

    def pages(job):
        pk = str(job.pk)
        commands = [["jobs", "show", pk], ["jobs", "show", pk, "--json"], ["dead", "list"], ["dead", "list", "--json"]]
        urls = ["job/", f"job/{pk}/change/", "deadletter/"]
        if letter := DeadLetter.objects.filter(job=job).first():
            commands += [["dead", "show", str(letter.pk)], ["dead", "show", str(letter.pk), "--json"]]
            urls.append(f"deadletter/{letter.pk}/change/")
        told = {}
        for command in commands:
            out = io.StringIO()
            call_command("jobqueue", *command, stdout=out)
            told[" ".join(command)] = out.getvalue()
        for url in urls:
            told[url] = client.get(f"/admin/django_jobqueue/{url}", follow=True).content.decode()
        return told

    return pages


@pytest.mark.parametrize(
    ("job", "args", "kwargs", "needle"),
    [
        (pay_all, [NEEDLE], {}, NEEDLE),
        (pay_with, [], {"iban": NEEDLE}, NEEDLE),
        (take_short_ones, ["~7~"], {"pin": "~7~"}, "~7~"),
        (find_customer, ["Conan O'Brien Shaughnessy"], {}, "Brien Shaughnessy"),
        (give_number, [48151623], {}, "48151623"),
        (name_a_class, ["Shaughnessy"], {}, "Shaughnessy"),
        (take_row, [Row(NEEDLE)], {}, NEEDLE),
        (take_box, [Box([Pair(NEEDLE, 1)])], {}, NEEDLE),
        (take_sheet, [Sheet(lines=[Line(NEEDLE)])], {}, NEEDLE),
        (take_books, [], {"books": [Book({"a": [Row(NEEDLE)]})]}, NEEDLE),
    ],
    ids=[
        "*args",
        "**kwargs",
        "short ones",
        "an apostrophe in a KeyError",
        "a number in a result",
        "the name of a class",
        "a Struct as a list",
        "generic Structs in another",
        "a NamedTuple of a model",
        "Structs in a dataclass",
    ],
)
def test_what_is_sensitive_is_shown_nowhere(job, args, kwargs, needle, seen):
    """Whatever takes it, and however an error or a result quotes it."""
    result = job.enqueue(*args, **kwargs)
    run_jobs()

    told = seen(Job.objects.get(pk=result.id))
    told["stored"] = str(list(Attempt.objects.values("exception_class", "message", "traceback")))
    assert [where for where, words in told.items() if needle in words] == []


def test_what_was_sensitive_is_hidden_when_its_task_is_gone(seen):
    """What it was called is not known any more: all values are hidden, in older errors too, and the page says why."""
    result = cast.give_back.enqueue({"name": NEEDLE})
    run_jobs()
    find_customer.enqueue(name=NEEDLE)
    run_jobs()
    # As an older release may have stored it.
    Attempt.objects.update(message=f"no {NEEDLE}", traceback=f"ValueError: no {NEEDLE}", exception_class=f"x.{NEEDLE}")
    Job.objects.update(task=GONE)

    done, dead = Job.objects.get(pk=result.id), DeadLetter.objects.get().job
    for job in (done, dead):
        told = seen(job)
        assert [where for where, words in told.items() if NEEDLE in words] == []
        assert {where for where, words in told.items() if shown.ALL_IS_HIDDEN in words} >= {
            f"jobs show {job.pk}",
            f"jobs show {job.pk} --json",
            f"job/{job.pk}/change/",
            "deadletter/",
        }
        assert '"name":' in told[f"jobs show {job.pk} --json"]


def test_an_audit_entry_of_a_job_that_is_gone_shows_no_arguments(client):
    """Nobody knows what task it was of: what a replay has put in place of others is hidden, its columns are not."""
    client.force_login(get_user_model().objects.create_superuser("ada", "ada@example.com", "x"))
    sides = {"before": {"status": "FAILED", "kwargs": {"name": NEEDLE}}, "after": {"args": [NEEDLE]}}
    entry = AuditEntry.objects.create(actor="ada", action="replay", object="job:999999", **sides)

    page = client.get(f"/admin/django_jobqueue/auditentry/{entry.pk}/change/").content.decode()

    assert NEEDLE not in page
    assert "FAILED" in page
    assert shown.ALL_IS_HIDDEN in page
