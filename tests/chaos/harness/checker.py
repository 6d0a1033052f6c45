"""The oracle: what must hold when a run has come to rest, whatever was done to it.

Reads the database and the two ledgers, and nothing that the product says of itself. Each rule answers with the
breaches that it found, in words; no words, no breach.
"""

from dataclasses import dataclass, field
from itertools import pairwise

from django_jobqueue.policy.lifecycle import TRANSITIONS

MOVES = {(move.old, str(move.new)) for move in TRANSITIONS}
TERMINAL = ("SUCCESSFUL", "FAILED", "CANCELLED")


@dataclass
class Allowed:
    """What a fault may cost besides time.

    `charges` says that an attempt may end as lost though its task did nothing wrong; `deaths` that a job may run
    out of attempts for it; `overlaps` that a run which was frozen goes on, for a moment, beside the next one.
    """

    charges: bool = False
    deaths: bool = False
    overlaps: bool = False


@dataclass
class Evidence:
    """All that a checker looks at."""

    jobs: dict = field(default_factory=dict)
    attempts: dict = field(default_factory=dict)
    letters: dict = field(default_factory=dict)
    moves: dict = field(default_factory=dict)
    orders: set = field(default_factory=set)
    stale_refused: int = 0
    starts: dict = field(default_factory=dict)
    effects: dict = field(default_factory=dict)
    intents: dict = field(default_factory=dict)
    outcomes: dict = field(default_factory=dict)

    @property
    def accepted(self):
        """The jobs whose enqueue returned, by intent."""
        return {intent: fact["job"] for intent, fact in self.outcomes.items() if fact["what"] == "ok"}


def collect(connection, ledger, intents):
    """Read the database and the ledgers."""
    evidence = Evidence()
    for row in _rows(connection, "SELECT * FROM django_jobqueue_job"):
        evidence.jobs[row["id"]] = row
    for row in _rows(connection, "SELECT * FROM django_jobqueue_attempt ORDER BY job_id, number"):
        evidence.attempts.setdefault(row["job_id"], []).append(row)
    for row in _rows(connection, "SELECT * FROM django_jobqueue_deadletter"):
        evidence.letters.setdefault(row["job_id"], []).append(row)
    for row in _rows(connection, "SELECT * FROM chaos_move ORDER BY id"):
        evidence.moves.setdefault(row["job_id"], []).append(row)
    evidence.orders = {row["key"] for row in _rows(connection, "SELECT key FROM stage_order")}
    (row,) = _rows(connection, "SELECT COALESCE(sum(stale_refused), 0)::int AS total FROM django_jobqueue_worker")
    evidence.stale_refused = row["total"]
    for fact in ledger.read("start", "effect"):
        facts = evidence.starts if fact["what"] == "start" else evidence.effects
        facts.setdefault(fact["job"], []).append(fact)
    for fact in intents.read("intent", "ok", "indeterminate", "rejected"):
        facts = evidence.intents if fact["what"] == "intent" else evidence.outcomes
        facts[fact["intent"]] = fact
    return evidence


def _rows(connection, query):
    cursor = connection.execute(query)
    names = [column.name for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


# --- Lost, doubled, burnt: the three numbers of the line


def lost(evidence):
    """Name accepted jobs that are not there, or have not come to an end."""
    for intent, job_id in evidence.accepted.items():
        job = evidence.jobs.get(job_id)
        if job is None:
            yield f"intent {intent}: job {job_id} was accepted and is gone"
        elif job["status"] not in TERMINAL:
            yield f"intent {intent}: job {job_id} is {job['status']} for ever ({job['waiting_for']!r})"


def unexplained(evidence):
    """Name runs that no attempt accounts for: each start is an attempt of its own, and each extra one ended badly."""
    for job_id, starts in evidence.starts.items():
        attempts = {attempt["number"]: attempt for attempt in evidence.attempts.get(job_id, [])}
        seen = set()
        for start in starts:
            if start["attempt"] in seen:
                yield f"job {job_id} began attempt {start['attempt']} twice"
            elif start["attempt"] not in attempts:
                yield f"job {job_id} ran as attempt {start['attempt']}, of which there is no record"
            seen.add(start["attempt"])
        succeeded = [number for number, attempt in attempts.items() if attempt["outcome"] == "succeeded"]
        if len(succeeded) > 1 or (succeeded and succeeded != [max(attempts)]):
            yield f"job {job_id} succeeded in attempts {succeeded} of {sorted(attempts)}"


def burnt(evidence):
    """Name charged attempts that the task did not deserve: it was never called, or did nothing wrong."""
    for job_id, attempts in evidence.attempts.items():
        began = {start["attempt"] for start in evidence.starts.get(job_id, [])}
        for attempt in attempts:
            if attempt["charged"] and attempt["number"] not in began:
                yield f"job {job_id}: attempt {attempt['number']} is charged and never began ({attempt['message']})"
            elif attempt["charged"] and attempt["outcome"] != "failed" and "how" not in evidence.jobs[job_id]["kwargs"]:
                yield f"job {job_id}: attempt {attempt['number']} is charged as {attempt['outcome']}"


# --- The rules that hold under every fault


def enqueue_is_all_or_nothing(evidence):
    """An indeterminate call left one job or none, a rejected one none; a job and its caller's row go together."""
    by_intent = {}
    for job in evidence.jobs.values():
        by_intent.setdefault(job["kwargs"]["intent"], []).append(job["id"])
    for intent, ids in by_intent.items():
        outcome = evidence.outcomes.get(intent, {"what": "indeterminate"})
        if intent not in evidence.intents:
            yield f"jobs {ids} were never asked for"
        if len(ids) > 1 or outcome["what"] == "rejected":
            yield f"intent {intent} was {outcome['what']} and left jobs {ids}"
    with_row = {intent for intent, fact in evidence.intents.items() if fact["row"] and intent in by_intent}
    for intent in with_row ^ {int(key.removeprefix("intent ")) for key in evidence.orders}:
        yield f"intent {intent}: the job and the caller's row did not commit together"


def attempts_are_contiguous_and_bounded(evidence):
    """Numbers run from 1 without a gap to attempt_count; no more are charged than max_attempts."""
    for job_id, job in evidence.jobs.items():
        attempts = evidence.attempts.get(job_id, [])
        numbers = [attempt["number"] for attempt in attempts]
        charged = sum(attempt["charged"] for attempt in attempts)
        if job["status"] != "RUNNING" and numbers != list(range(1, job["attempt_count"] + 1)):
            yield f"job {job_id}: attempts {numbers} of {job['attempt_count']}"
        if charged > job["max_attempts"] or charged != job["failure_count"]:
            yield f"job {job_id}: {charged} charged, {job['failure_count']} counted, of {job['max_attempts']}"
        interrupted = sum(attempt["outcome"] == "interrupted" for attempt in attempts)
        if job["interruption_count"] > interrupted:
            yield f"job {job_id}: {interrupted} interrupted, {job['interruption_count']} counted"


def attempts_do_not_overlap(evidence):
    """By the database's clock an attempt begins after the one before it has been closed."""
    for job_id, attempts in evidence.attempts.items():
        for one, next_one in pairwise(attempts):
            if next_one["started_at"] < one["finished_at"]:
                yield f"job {job_id}: attempt {next_one['number']} began before {one['number']} was closed"


def every_death_has_its_letter(evidence):
    """FAILED is one open letter, and the last attempt is closed; nothing else has a letter."""
    for job_id, job in evidence.jobs.items():
        letters = evidence.letters.get(job_id, [])
        wanted = 1 if job["status"] == "FAILED" else 0
        if len(letters) != wanted or any(letter["status"] != "OPEN" for letter in letters):
            yield f"job {job_id} is {job['status']} and has {len(letters)} letters"


def tokens_are_for_running_jobs(evidence):
    """A token is RUNNING and RUNNING is a token; at rest there is neither."""
    for job_id, job in evidence.jobs.items():
        if (job["status"] == "RUNNING") != (job["lease_token"] is not None):
            yield f"job {job_id} is {job['status']} with token {job['lease_token']}"
        if job["status"] == "RUNNING":
            yield f"job {job_id} is RUNNING at rest"


def moves_are_legal(evidence):
    """Every change of status is an arrow of the diagram, in an unbroken chain, and nothing touches what has ended."""
    for job_id, moves in evidence.moves.items():
        status = None
        for move in moves:
            if move["old_status"] != status:
                yield f"job {job_id} went from {move['old_status']} after it had come to {status}"
            if move["old_status"] in TERMINAL:
                yield f"job {job_id} was {move['old_status']} and was written again"
            is_new_owner = move["old_status"] == move["new_status"] == "RUNNING"
            if not is_new_owner and (move["old_status"], move["new_status"]) not in MOVES:
                yield f"job {job_id} went from {move['old_status']} to {move['new_status']}"
            status = move["new_status"]


def tokens_are_used_by_their_owner(evidence):
    """What ends a lease is written by the worker that took it: nobody who comes late, and nobody else."""
    for job_id, moves in evidence.moves.items():
        owners = {move["new_token"]: move["writer"] for move in moves if move["new_token"] != move["old_token"]}
        for move in moves:
            is_end = move["old_status"] == "RUNNING" and move["new_status"] != "RUNNING"
            if is_end and owners.get(move["old_token"]) != move["writer"]:
                yield f"job {job_id} was held by {owners.get(move['old_token'])}; {move['writer']} wrote its end"


def nobody_is_rescued_too_early(evidence):
    """A lease is taken from a worker when it has run out, or the worker gives it up itself without an attempt."""
    for job_id, moves in evidence.moves.items():
        for move, after in zip(moves, [*moves[1:], None], strict=True):
            is_taken = (
                move["old_status"] == move["new_status"] == "RUNNING" and move["old_lease_expires_at"] > move["at"]
            )
            if is_taken and after is not None and after["new_status"] != "RUNNING":
                closed = [a for a in evidence.attempts.get(job_id, []) if a["finished_at"] >= move["at"]]
                if closed and closed[0]["outcome"] == "lost" and closed[0]["worker_id"] == move["worker_id"]:
                    yield f"job {job_id} was taken at {move['at']}, its lease ran to {move['old_lease_expires_at']}"


def results_are_of_the_last_attempt(evidence):
    """SUCCESSFUL has an effect by the attempt that is on record as the one that succeeded, and its result."""
    for job_id, job in evidence.jobs.items():
        if job["status"] != "SUCCESSFUL":
            continue
        wanted = {"intent": job["kwargs"]["intent"], "attempt": job["attempt_count"]}
        if job["result"] != wanted:
            yield f"job {job_id} has the result {job['result']}, not {wanted}"
        if job["attempt_count"] not in [effect["attempt"] for effect in evidence.effects.get(job_id, [])]:
            yield f"job {job_id} is SUCCESSFUL and attempt {job['attempt_count']} had no effect"


def deaths_are_deserved(evidence):
    """A job that was made to succeed has succeeded."""
    for job_id, job in evidence.jobs.items():
        is_doomed = job["kwargs"].get("failures", 0) >= job["max_attempts"] or "how" in job["kwargs"]
        if job["status"] == "FAILED" and not is_doomed:
            reasons = [letter["reason"] for letter in evidence.letters.get(job_id, [])]
            ends = [attempt["outcome"] for attempt in evidence.attempts.get(job_id, [])]
            yield f"job {job_id} died of {reasons}; its attempts: {ends}"
        if job["status"] == "SUCCESSFUL" and is_doomed:
            yield f"job {job_id} was made to die and is SUCCESSFUL"


def runs_do_not_overlap(evidence):
    """By the clock of the machine a run has had its effect before the next run of the job begins.

    A worker that cannot keep a lease stops the job before the lease ends.
    """
    for job_id, effects in evidence.effects.items():
        for effect in effects:
            for start in evidence.starts[job_id]:
                if start["attempt"] > effect["attempt"] and start["at"] < effect["at"]:
                    yield f"job {job_id}: attempt {effect['attempt']} had its effect after {start['attempt']} had begun"


ALWAYS = (
    enqueue_is_all_or_nothing,
    attempts_are_contiguous_and_bounded,
    attempts_do_not_overlap,
    every_death_has_its_letter,
    tokens_are_for_running_jobs,
    moves_are_legal,
    tokens_are_used_by_their_owner,
    nobody_is_rescued_too_early,
    results_are_of_the_last_attempt,
)


@dataclass
class Verdict:
    """What was found, in words."""

    lost: list
    unexplained: list
    burnt: list
    breaches: list

    @property
    def is_good(self):
        """Whether nothing was found."""
        return not (self.lost or self.unexplained or self.breaches)


def judge(evidence, allowed):
    """Apply every rule."""
    found = Verdict(list(lost(evidence)), list(unexplained(evidence)), list(burnt(evidence)), [])
    found.breaches += [f"{rule.__name__}: {breach}" for rule in ALWAYS for breach in rule(evidence)]
    if not allowed.charges:
        found.breaches += [f"burnt: {breach}" for breach in found.burnt]
    if not allowed.overlaps:
        found.breaches += [f"runs_do_not_overlap: {breach}" for breach in runs_do_not_overlap(evidence)]
    if not allowed.deaths:
        found.breaches += [f"deaths_are_deserved: {breach}" for breach in deaths_are_deserved(evidence)]
    return found
