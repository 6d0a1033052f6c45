"""Rows to look at, people who look, and a tool to damage what they see."""

import uuid
from functools import partial

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db import connection

from django_jobqueue import task
from django_jobqueue.models import Attempt, AuditEntry, CircuitBreaker, Limit, Pause, Worker
from django_jobqueue.store.claim import queue_pattern
from tests.factories import make_dead_letter, make_job

ADMIN = "/admin/django_jobqueue"


@task(task_name="shop.tasks.charge")
def charge(*args, **kwargs):
    """Be known: of a job whose task is not all values are hidden."""


@pytest.fixture
def job(db):
    """Make jobs; READY unless told otherwise."""
    return partial(make_job, task="shop.tasks.charge")


@pytest.fixture
def letter(db):
    """Make dead letters; further columns are the job's, those of `attempt` its last attempt's."""

    def make(*, attempt=None, **columns):
        made = make_dead_letter(**{"task": "shop.tasks.charge"} | columns)
        if attempt:
            last = made.job.attempts.order_by("-number").first()
            Attempt.objects.filter(pk=last.pk).update(**attempt)
        return made

    return make


@pytest.fixture
def worker(db):
    """Make workers."""

    def make(**columns):
        columns = {"id": uuid.uuid4(), "hostname": "host-a", "pid": 7, "backend": "default"} | columns
        return Worker.objects.create(processes=2, threads=1, coroutines=0, **columns)

    return make


@pytest.fixture
def entry(db):
    """Make audit entries."""

    def make(**columns):
        return AuditEntry.objects.create(**{"actor": "ada", "action": "replay", "object": "job:1"} | columns)

    return make


@pytest.fixture
def pause(db):
    """Make pauses; of a queue `mail` unless told otherwise."""

    def make(target="mail", **columns):
        columns = {"kind": "queue", "reason": "the provider is down", "paused_by": "ada"} | columns
        return Pause.objects.create(target=target, pattern=queue_pattern(target), **columns)

    return make


@pytest.fixture
def limit(db):
    """Make limits that were set by hand; of a queue `mail` unless told otherwise."""

    def make(target="mail", **columns):
        columns = {"kind": "queue", "at_once": 1, "reason": "the provider is slow", "set_by": "ada"} | columns
        return Limit.objects.create(target=target, **columns)

    return make


@pytest.fixture
def breaker(db):
    """Make circuit breakers; an open one of the name `stripe` unless told otherwise."""

    def make(name="stripe", **columns):
        columns = {"state": "open", "generation": 1, "reason": "12 of 20 attempts failed (builtins.OSError)"} | columns
        return CircuitBreaker.objects.create(name=name, **columns)

    return make


@pytest.fixture
def person(db):
    """Make staff with exactly these permissions of the app."""

    def make(name, *codenames, **flags):
        user = get_user_model().objects.create_user(name, password="x", **{"is_staff": True} | flags)
        wanted = Permission.objects.filter(content_type__app_label="django_jobqueue", codename__in=codenames)
        user.user_permissions.set(wanted)
        assert len(wanted) == len(codenames)
        return user

    return make


@pytest.fixture
def boss(client, person):
    """The client of somebody who may do everything."""
    client.force_login(person("boss", is_superuser=True))
    return client


@pytest.fixture
def by_hand(db):
    """Change rows as somebody with psql would: no validation, no foreign keys, no check constraints."""

    def run(sql, *params):
        with connection.cursor() as cursor:
            # What the test has inserted so far is checked now; what is done by hand never is.
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")
            cursor.execute("SET LOCAL session_replication_role = replica")
            cursor.execute(sql, params)
            cursor.execute("SET LOCAL session_replication_role = origin")

    return run


def pages_of(row):
    """Return the addresses at which a row is shown: its list and its page."""
    base = f"{ADMIN}/{row._meta.model_name}/"
    return [base, f"{base}{row.pk}/change/"]
