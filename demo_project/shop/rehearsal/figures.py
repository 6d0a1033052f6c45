"""What a rehearsal must come to, and what it came to."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, fields
from typing import Any

from django.db.models import Sum

from demo_project.shop.inbox import received
from demo_project.shop.jobs import KINDS
from demo_project.shop.models import Invoice, Lead, Thumbnail, WeeklyReport
from demo_project.shop.services.ledger import Ledger
from demo_project.shop.stage import Stage
from django_jobqueue.models import Attempt, DeadLetter, Job


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one kind of work. `retried` counts attempts after a job's first."""

    enqueued: int
    succeeded: int
    retried: int
    dead: int
    effects: int


EXPECTED = {
    # 7 confirmations and 2 mails to sales; one bounces, one is greylisted twice.
    "mail": Row(enqueued=9, succeeded=8, retried=2, dead=1, effects=8),
    # 7 invoices: 2 outages, 1 answer too late, 1 killed worker; one declined.
    "billing": Row(enqueued=7, succeeded=6, retried=4, dead=1, effects=6),
    # 3 photos, one damaged; 3 sizes in 2 formats of the others.
    "pictures": Row(enqueued=3, succeeded=2, retried=0, dead=1, effects=12),
    # 3 deliveries of 2 leads.
    "leads": Row(enqueued=3, succeeded=3, retried=0, dead=0, effects=2),
    # The same week, asked for twice.
    "reports": Row(enqueued=2, succeeded=2, retried=0, dead=0, effects=1),
    # 3 attempts, each of which kills its process.
    "default": Row(enqueued=1, succeeded=0, retried=2, dead=1, effects=0),
}

AT_LEAST = {"retried"}
"""A slow machine, or a neighbour's death, may add a try; neither may add an effect."""

EFFECTS = {
    "mail": "mails taken",
    "billing": "cards charged",
    "pictures": "thumbnails",
    "leads": "CRM entries",
    "reports": "weeks reported",
    "default": "none",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure that is not as it must be."""

    figure: str
    expected: Any
    got: Any

    def __str__(self) -> str:
        return f"{self.figure}: expected {self.expected}, got {self.got}"


def count(stage: Stage) -> dict[str, Row]:
    """Count what happened, by kind: jobs in the queue's tables, effects on the other side."""
    effects = {
        "mail": len(received()),
        "billing": len(Ledger(stage.payments, "ch").documents()),
        "pictures": Thumbnail.objects.count(),
        "leads": len(Ledger(stage.crm, "crm").documents()),
        "reports": WeeklyReport.objects.count(),
        "default": 0,
    }
    return {kind: _count(kind, effects[kind]) for kind in KINDS}


def differences(rows: dict[str, Row]) -> list[Difference]:
    """Compare each figure with what it must be."""
    found = []
    for kind, expected in EXPECTED.items():
        for name in (field.name for field in fields(Row)):
            wanted, got = getattr(expected, name), getattr(rows[kind], name)
            if got < wanted or (got > wanted and name not in AT_LEAST):
                bound = f"at least {wanted}" if name in AT_LEAST else wanted
                found.append(Difference(f"{KINDS[kind]} {name}", bound, got))
    return found


def further_differences(stage: Stage, report: str) -> list[Difference]:
    """Check what no column shows: the crash, the money, the reasons, and what was sent twice."""
    crashed = Attempt.objects.filter(job_id=Invoice.objects.earliest("pk").job_id)
    taken = sum(json.loads(document)[1] for _, document in Ledger(stage.payments, "ch").documents())
    paid = Invoice.objects.filter(charge__isnull=False).aggregate(sum=Sum("amount_cents"))["sum"]
    reasons = dict(DeadLetter.objects.values_list("job__queue_name", "reason"))
    poison = reasons.pop("default", "none")
    facts = [
        (
            "outcomes of the job whose worker was killed",
            [Attempt.Outcome.LOST.value, Attempt.Outcome.SUCCEEDED.value],
            list(crashed.order_by("number").values_list("outcome", flat=True)),
        ),
        ("cents taken by the provider", paid, taken),
        (
            "reasons of the dead letters",
            dict.fromkeys(("billing", "mail", "pictures"), "not_retryable"),
            dict(sorted(reasons.items())),
        ),
        ("poison died of it", True, poison in {"crash_loop", "attempts_exhausted"}),
        ("mails taken twice", [], _twice(mail.message_id for mail in received())),
        ("deliveries of the repeated lead", 2, Lead.objects.earliest("pk").deliveries),
        ("orders in the report", 7, max(0, len(report.splitlines()) - 1)),
    ]
    return [Difference(*fact) for fact in facts if fact[1] != fact[2]]


def table(rows: dict[str, Row]) -> str:
    """Write the figures as one table."""
    head = ["kind", "enqueued", "succeeded", "retried", "dead-lettered", "effects"]
    lines = [head]
    for kind, row in rows.items():
        effects = f"{row.effects} {EFFECTS[kind]}" if row.effects else "none"
        numbers = [row.enqueued, row.succeeded, row.retried, row.dead]
        lines.append([KINDS[kind].lower(), *map(str, numbers), effects])
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join(
            # Numbers stand on the right, words on the left.
            cell.rjust(width) if 0 < column < len(head) - 1 else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in [lines[0], ["-" * width for width in widths], *lines[1:]]
    )


def _count(kind: str, effects: int) -> Row:
    jobs = Job.objects.filter(queue_name=kind)
    attempts = Counter(Attempt.objects.filter(job__in=jobs).values_list("job_id", flat=True))
    return Row(
        enqueued=jobs.count(),
        succeeded=jobs.filter(status=Job.Status.SUCCESSFUL).count(),
        retried=sum(count - 1 for count in attempts.values()),
        dead=DeadLetter.objects.filter(job__in=jobs, status=DeadLetter.Status.OPEN).count(),
        effects=effects,
    )


def _twice(values: Any) -> list[str]:
    return sorted(value for value, count in Counter(values).items() if count > 1)
