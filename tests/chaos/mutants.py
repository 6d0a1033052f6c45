"""The product, broken on purpose: `python -m tests.chaos.mutants <name> runworker …` runs it.

Each mutant takes one safeguard away, in the text of a statement as it is loaded or in a method, before the worker
starts; the product has no hook for it. The chaos must turn red.
"""

import os
import sys


def without(name, words, instead=""):
    """Return a mutation that loads a statement without some words."""

    def mutate():
        from django_jobqueue.store import statement

        load = statement.load

        def load_mutant(wanted, inner=""):
            text = load(wanted, inner)
            if wanted == name:
                assert words in text, f"{name}.sql has no {words!r} any more"
                text = text.replace(words, instead)
            return text

        statement.load = load_mutant

    return mutate


def settle_without_token():
    """Let whoever comes late write how an attempt ended."""
    without("finish", "AND job.lease_token = mine.token")()
    without("settle", "AND job.lease_token = mine.token")()


def rescue_before_expiry():
    """Take running jobs over whose lease has not run out."""
    without("rescue", "AND expired.lease_expires_at <= statement_timestamp()")()


def never_renew():
    """Keep no lease."""
    from django_jobqueue.worker.agenda import Agenda

    if not hasattr(Agenda, "_leases_to_renew"):
        raise LookupError("renewals are chosen elsewhere by now")
    Agenda._leases_to_renew = lambda self, now: self._schedule.renewed(now) or []


def forget_lost_claims():
    """Do not look for claims whose reply was lost."""
    without(
        "recover", "AND mine.worker_id = %(worker_id)s::uuid", "AND false AND mine.worker_id = %(worker_id)s::uuid"
    )()


def forget_outcomes():
    """Drop what could not be written, instead of keeping it."""
    from django_jobqueue.worker.ledger import Ledger

    Ledger.put_back = lambda self, batch: None


def give_up_at_once():
    """Leave when the database cannot be used."""
    from django_jobqueue.worker.outage import Outage

    def failed(self, error):
        raise SystemExit(1)

    Outage.failed = failed


def burn_interruptions():
    """Charge what was interrupted."""
    from django_jobqueue.worker import judge

    decide = judge.decide
    judge.decide = lambda *a, **k: (d := decide(*a, **k))._replace(charged=d.charged or d.interrupted)


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
    )
}


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.chaos.settings")
    import django

    django.setup()
    MUTANTS[sys.argv[1]]()
    from django.core.management import execute_from_command_line

    execute_from_command_line(["manage", *sys.argv[2:]])
