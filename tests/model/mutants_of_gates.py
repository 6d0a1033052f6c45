"""Mistakes with limits and orders: who is admitted, when, and what has to be admitted at all."""

from __future__ import annotations

from django_jobqueue.store import limits, replay
from tests.model.mutants import code, sql

ADMITS = "current_setting('django_jobqueue.admits', true) = 'true'"
HAS_NO_LIMIT = "COALESCE(job.share_weight, job.key_limit, job.task_limit, job.queue_limit) IS NULL"
HAS_A_LIMIT = HAS_NO_LIMIT.replace("IS NULL", "IS NOT NULL")
DIED_BEFORE = "OR (before.order_blocks AND before.status = 'FAILED')"

SLOTS = [
    sql("admission counts what runs only", ("slots_taken", "status IN ('READY', 'RUNNING')", "status = 'RUNNING'")),
    sql("admission counts what is ready only", ("slots_taken", "status IN ('READY', 'RUNNING')", "status = 'READY'")),
    sql(
        "admission counts a key of all backends",
        ("slots_taken", "SELECT backend || key AS name", "SELECT '7:default' || key AS name"),
    ),
    sql("admission counts who is under no such limit", ("slots_taken", "FILTER (WHERE task_limit IS NOT NULL)", "")),
    sql("admission forgets the task", ("admit_limited", "WHERE task_left IS NULL OR place <= task_left", "")),
    sql("admission forgets the queue", ("admit_limited", "WHERE queue_left IS NULL OR place <= queue_left", "")),
    sql("admission forgets the key", ("admit_limited", "WHERE key_left IS NULL OR place <= key_left", "")),
    sql(
        "admission out of order",
        ("admit_limited", "ORDER BY each.priority DESC, each.run_after", "ORDER BY each.priority, each.run_after"),
    ),
    sql("admission without the lock", ("admit_lock", "pg_try_advisory_xact_lock(%(lock)s)::text", "'true'")),
    sql("slots are given beside another who gives them", ("admit_limited", ADMITS, "true")),
    sql("turns are given beside another who gives them", ("admit_ordered", ADMITS, "true")),
    sql("who gives slots waits for a lock", ("admit_limited", "FOR UPDATE SKIP LOCKED", "FOR UPDATE")),
    *[
        sql(
            f"a limit that is set for a {kind} is not read",
            ("admit_limited", f"'{kind} ' || lanes.", "'nobody ' || lanes."),
        )
        for kind in ("key", "task", "queue")
    ],
    sql(
        "a limit that was set catches who is under none",
        ("admit_limited", "CASE WHEN waiting.queue_limit IS NOT NULL THEN COALESCE", "CASE WHEN true THEN COALESCE"),
    ),
    code("a lower limit leaves ready what is", limits.set_limit, "ready.update(", "ready.none().update("),
    code("a limit is changed beside who admits", limits.set_limit, "admit.exclusively(using)", "pass"),
    code("a limit is changed beside who claims", limits.set_limit, "control.exclusively(using)", "pass"),
    code(
        "a limit cannot be taken back",
        limits._change,
        "{**columns,",
        "{**{name: value for name, value in columns.items() if value is not None},",
    ),
    sql("what is interrupted keeps its slot", ("settle", HAS_A_LIMIT, "false")),
    sql("what is given back keeps its slot", ("give_back", HAS_A_LIMIT, "false")),
    sql("what falls due needs no slot", ("promote", HAS_NO_LIMIT, "true")),
    sql("what has its turn needs no slot", ("admit_ordered", HAS_NO_LIMIT, "true")),
    sql(
        "what is new needs no slot",
        (
            "new_state",
            "COALESCE(new.share_weight, new.key_limit, new.task_limit, new.queue_limit) IS NOT NULL",
            "false",
        ),
    ),
    code("what is replayed needs no slot", replay._restart, "default=Value(Status.WAITING)", "default=Value('READY')"),
]

TURNS = [
    sql("the order is that of priority", ("admit_ordered", "ORDER BY waiting.id", "ORDER BY waiting.priority DESC")),
    sql("a turn before the time", ("admit_ordered", "AND first.run_after <= statement_timestamp()", "")),
    sql(
        "a turn while another waits for its retry",
        ("admit_ordered", "OR (before.status = 'WAITING' AND NOT before.waiting_for = 'order')", ""),
    ),
    sql("a turn while another runs", ("admit_ordered", "before.status IN ('READY', 'RUNNING')", "false")),
    sql("a dead letter never blocks", ("admit_ordered", DIED_BEFORE, "")),
    sql("a dead letter always blocks", ("admit_ordered", "before.order_blocks AND ", "")),
    sql("a discarded letter still blocks", ("admit_ordered", "OR letter.status = 'OPEN'", "OR true")),
    sql("one line for all backends", ("admit_ordered", "before.backend = keys.backend AND", "")),
    sql("who gives turns waits for a lock", ("admit_ordered", "FOR UPDATE SKIP LOCKED", "FOR UPDATE")),
    sql("what is new has its turn", ("new_state", "new.order_key IS NOT NULL", "false")),
    code(
        "what is replayed goes past its turn",
        replay._restart,
        "When(order_key__isnull=False, then=Value(WaitingFor.ORDER))",
        "When(order_key__isnull=False, then=Value(WaitingFor.LIMIT))",
    ),
]

GATES = [*SLOTS, *TURNS]
