"""The product, broken on purpose: `python -m tests.chaos.mutants <name> runworker …` runs it.

Each mutant takes one safeguard away, in the text of a statement as it is loaded or in a method, before the worker
starts; the product has no hook for it. The chaos must turn red. Without a command it is only checked that what the
mutant replaces is still there: a mutant of nothing would prove nothing. Without a name all of them are checked.
"""

import inspect
import os
import sys


def replace(owner, name, make):
    """Put what `make` makes of an attribute in its place.

    Raises LookupError where there is none, or where it is called otherwise: a mutant that ends in a TypeError is found
    out by any rule.
    """
    if not hasattr(owner, name):
        raise LookupError(f"{owner.__name__} has no {name} any more")
    original = getattr(owner, name)
    mutant = make(original)
    if callable(original):
        try:
            inspect.signature(mutant).bind(*inspect.signature(original).parameters)
        except TypeError as error:
            raise LookupError(f"{owner.__name__}.{name} is called otherwise by now: {error}") from error
    setattr(owner, name, mutant)


def without(name, words, instead=""):
    """Load a statement without some words. Raises LookupError where it does not have them."""
    from django_jobqueue.store import statement

    load = statement.load
    if words not in load(name):
        raise LookupError(f"{name}.sql has no {words!r} any more")

    def load_mutant(wanted, inner=""):
        text = load(wanted, inner)
        return text.replace(words, instead) if wanted == name else text

    statement.load = load_mutant


def settle_without_token():
    """Let whoever comes late write how an attempt ended."""
    without("finish", "AND job.lease_token = mine.token")
    without("settle", "AND job.lease_token = mine.token")


def rescue_before_expiry():
    """Take running jobs over whose lease has not run out."""
    without("rescue", "AND expired.lease_expires_at <= statement_timestamp()")


def never_renew():
    """Keep no lease."""
    from django_jobqueue.worker.agenda import Agenda

    replace(Agenda, "_leases_to_renew", lambda _: lambda self, now: self._schedule.renewed(now) or [])


def forget_lost_claims():
    """Do not look for claims whose reply was lost."""
    without("recover", "AND mine.worker_id = %(worker_id)s::uuid", "AND false AND mine.worker_id = %(worker_id)s::uuid")


def forget_outcomes():
    """Drop what could not be written, instead of keeping it."""
    from django_jobqueue.worker.ledger import Ledger

    replace(Ledger, "put_back", lambda _: lambda self, batch: None)


def give_up_at_once():
    """Leave when the database cannot be used."""
    from django_jobqueue.worker.outage import Outage

    def failed(self, error, seconds=0.0):
        raise SystemExit(1)

    replace(Outage, "failed", lambda _: failed)


def burn_interruptions():
    """Charge what was interrupted."""
    from django_jobqueue.worker import judge

    def charging(decide):
        return lambda *a, **k: (d := decide(*a, **k))._replace(charged=d.charged or d.interrupted)

    replace(judge, "decide", charging)


def retry_the_unwanted():
    """Decide about a job as if nobody had asked to cancel it."""
    from django_jobqueue.worker import judge

    def forgetting(decide):
        return lambda *a, **k: decide(*a, **k | {"cancel_requested": False})

    replace(judge, "decide", forgetting)
    without("settle", "WHEN job.cancel_requested_at IS NOT NULL THEN 'CANCELLED'")
    without("settle", "WHEN job.cancel_requested_at IS NOT NULL THEN ''")
    without("settle", " OR job.cancel_requested_at IS NOT NULL THEN", " THEN")


def no_self_fence():
    """Let a job run on whose lease may have run out."""
    from django_jobqueue.policy.outcomes import Interrupted
    from django_jobqueue.worker.flight import Flight

    def unfenced(end_by_force):
        def mutant(self, now, lease_margin):
            end = end_by_force(self, now, lease_margin)
            return None if isinstance(end, Interrupted) else end

        return mutant

    replace(Flight, "end_by_force", unfenced)


def keep_no_truce():
    """Rescue at once after an outage, before the others can have come back."""
    from django_jobqueue.worker.schedule import Schedule

    replace(Schedule, "postpone_rescue", lambda _: lambda self, seconds: None)


def wait_for_long():
    """Try again after an outage in nine to eighteen seconds."""
    from django_jobqueue.worker import outage

    replace(outage, "FIRST_SECONDS", lambda _: 18.0)
    replace(outage, "MAX_SECONDS", lambda _: 18.0)


def wait_for_nothing():
    """Try again at once, as fast as it goes."""
    from django_jobqueue.worker.outage import Outage

    def hurrying(failed):
        def mutant(self, error, seconds=0.0):
            failed(self, error, seconds)
            self.retry_at = 0.0

        return mutant

    replace(Outage, "may_try", lambda _: lambda self, now: True)
    replace(Outage, "failed", hurrying)


def say_each_try():
    """Say of each try that the database cannot be used."""
    from django_jobqueue.worker import outage

    def saying(failed):
        def mutant(self, error, seconds=0.0):
            if self.is_on:
                outage.logger.warning("the database cannot be used: %s", outage.in_a_line(error))
            failed(self, error, seconds)

        return mutant

    replace(outage.Outage, "failed", saying)


MUTANTS = {
    mutant.__name__: mutant
    for mutant in (
        settle_without_token,
        rescue_before_expiry,
        never_renew,
        forget_lost_claims,
        forget_outcomes,
        give_up_at_once,
        burn_interruptions,
        retry_the_unwanted,
        no_self_fence,
        keep_no_truce,
        wait_for_long,
        wait_for_nothing,
        say_each_try,
    )
}


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.chaos.settings")
    import django

    django.setup()
    for chosen in sys.argv[1:2] or MUTANTS:
        MUTANTS[chosen]()
    if len(sys.argv) > 2:
        from django.core.management import execute_from_command_line

        execute_from_command_line(["manage", *sys.argv[2:]])
