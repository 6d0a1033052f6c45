"""Tasks that are given a secret, and what they do with it."""

import os

from django.db import transaction

from django_jobqueue import once, operations, task
from django_jobqueue.backoff import constant

AN_HOUR = constant(3600)
"""So that a failure is not tried again in the same look."""


@task(max_attempts=1)
def use_key(key, *, client=None):
    """Be called with the value; say what can be said of it."""
    return {"length": len(key), "kind": type(key).__name__, "client": client and len(client["key"])}


@task(max_attempts=1)
def spill_key(key, **more):
    """Fail, and quote it in every way."""
    try:
        raise KeyError({"Authorization": f"Bearer {key}"})
    except KeyError as error:
        raise ValueError(f"bad {key!r} {more}") from error


@task(max_attempts=1)
async def spill_key_from_a_coroutine(key, **more):
    """Fail, and quote it."""
    raise ValueError(f"bad {key!r} {more}")


@task(max_attempts=1)
def return_key(key):
    """Return it."""
    return {"sent": [f"Bearer {key}"]}


@task(max_attempts=1)
def hand_key_on(key):
    """Give it to another job."""
    use_key.enqueue("x", client={"key": key})


@task(max_attempts=1)
def make_it_a_unique_key(key):
    """Have a job named by it."""
    use_key.using(unique_key=f"of {key}").enqueue("x")


@task(max_attempts=1)
def act_with_key(key, verb, row, **words):
    """Do what a person may do with a row; the key stands where KEY does in the words."""

    def written(value):
        if isinstance(value, dict):
            return {name: written(item) for name, item in value.items()}
        return [written(item) for item in value] if isinstance(value, list) else str(value).replace("KEY", key)

    getattr(operations, verb)(row, **written(words))


@task(max_attempts=1, atomic=True)
def spill_key_after_the_commit(key):
    """Succeed, and quote it too late."""

    def complain():
        raise ValueError(f"too late for {key}")

    transaction.on_commit(complain)


@task(backoff=AN_HOUR)
def charge_once(key, how="done"):
    """Do a thing once with the key, and fail the first time; or have `once` keep the key."""
    answer = once("the charge", remember if how == "done" else echo, f"Bearer {key}", key=key)
    if how == "done" and os.environ.pop("STAGE_FAILS_ONCE", ""):
        raise ConnectionError("it is not known whether it was done")
    return answer


@task(backoff=AN_HOUR)
def charge_once_in_a_mode(key, mode="test", kind=str):
    """Do a thing once with the key and a mode, and fail the first time."""
    once("the charge", remember, kind(key), key=mode)
    if os.environ.pop("STAGE_FAILS_ONCE", ""):
        raise ConnectionError("it is not known whether it was done")


@task(backoff=AN_HOUR)
def charge_once_by_number(key, mode):
    """Do so with the key as a number."""
    charge_once_in_a_mode.func(key, mode, kind=int)


@task(max_attempts=1)
def return_bytes(key):
    """Return it as Python writes its bytes."""
    return f"sent {key.encode()!r}"


@task(max_attempts=1)
def return_number(key):
    """Return it as a number."""
    return {"pin": int(key)}


@task(max_attempts=1)
def hand_number_on(key):
    """Give it to another job as a number."""
    use_key.enqueue("x", client={"key": int(key)})


def remember(header, key):
    """Return no secret."""
    return len(str(header)) - len(key)


def echo(header, key):
    """Return one."""
    return header
