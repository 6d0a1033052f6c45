"""The rules that hold under every fault. Each answers with the breaches that it found, in words."""

from itertools import pairwise

from django_jobqueue.policy.lifecycle import TRANSITIONS
from django_jobqueue.policy.retry import MAX_CRASHES

MOVES = {(move.old, str(move.new)) for move in TRANSITIONS}
TERMINAL = ("SUCCESSFUL", "FAILED", "CANCELLED")
REPLAYS = (("FAILED", "READY"), ("FAILED", "WAITING"))
HANGS = ("spin", "keep_gil")
REASONS = dict.fromkeys(("exit", "segfault", "abort", "eat_memory"), "crash_loop") | dict.fromkeys(
    HANGS, "attempts_exhausted"
)
"""What a job dies of, by what it does to its process, if nobody else does anything to it."""


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
    for intent in with_row ^ _numbers(evidence.orders, "intent"):
        yield f"intent {intent}: the job and the caller's row did not commit together"
    batches = {}
    for intent, fact in evidence.intents.items():
        batches.setdefault(fact["batch"], set()).add(intent in by_intent)
    for first, is_there in batches.items():
        if len(is_there) > 1:
            yield f"intent {first}: some of those that were enqueued with it are there, some are not"


def atomic_work_is_there_with_the_success(evidence):
    """What an atomic task wrote is there if its job has succeeded, and only then."""
    succeeded = {
        job["kwargs"]["intent"]
        for job in evidence.jobs.values()
        if job["task"].endswith("work_atomic") and job["status"] == "SUCCESSFUL"
    }
    for intent in succeeded ^ _numbers(evidence.orders, "atomic"):
        yield f"intent {intent}: the atomic task's row and its success did not commit together"


def what_is_done_under_a_key_is_done_once(evidence):
    """A job of `once` that has succeeded has had its effect, and no key has been served twice."""
    for kind, task in (("once", "work_keyed"), ("external", "work_external")):
        for job in evidence.jobs.values():
            times = evidence.traces[f"{kind} {job['kwargs']['intent']}"] if job["task"].endswith(task) else 0
            if times > 1 or (job["task"].endswith(task) and job["status"] == "SUCCESSFUL" and not times):
                yield f"job {job['id']} is {job['status']}, and its effect has happened {times} times"


def _numbers(keys, kind):
    return {int(number) for word, number in map(str.split, keys) if word == kind}


def attempts_are_contiguous_and_bounded(evidence):
    """Numbers run from 1 without a gap to attempt_count; no more are charged in a life than max_attempts."""
    for job_id, job in evidence.jobs.items():
        attempts = evidence.attempts.get(job_id, [])
        numbers = [attempt["number"] for attempt in attempts]
        charged = evidence.charged_in_this_life(job_id)
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
    """Who has died has one letter that counts its deaths: open or discarded while it is dead, else resolved."""
    for job_id, job in evidence.jobs.items():
        letters = evidence.letters.get(job_id, [])
        deaths = sum(move["new_status"] == "FAILED" for move in evidence.moves.get(job_id, []))
        if [letter["deaths"] for letter in letters] != ([deaths] if deaths else []):
            yield f"job {job_id} died {deaths} times and has {len(letters)} letters"
        discards = evidence.entries(job_id, "discard")
        wanted = ("OPEN", *(["DISCARDED"] if discards else [])) if job["status"] == "FAILED" else ("RESOLVED",)
        for letter in letters:
            if letter["status"] not in wanted:
                yield f"job {job_id} is {job['status']} and its letter {letter['status']}"


def every_death_has_its_reason(evidence):
    """A letter names what its last attempts came to, and what its job was made to do."""
    for job_id, letters in evidence.letters.items():
        job, attempts = evidence.jobs[job_id], evidence.attempts.get(job_id, [])
        if job["status"] != "FAILED" or not attempts:
            continue
        charged = evidence.charged_in_this_life(job_id)
        match attempts[-1]["outcome"]:
            case "lost" | "interrupted" if job["crash_count"] >= MAX_CRASHES:
                wanted = "crash_loop"
            case "interrupted":
                wanted = "interrupted_too_often"
            case "failed" | "timed_out" | "lost" if charged >= job["max_attempts"]:
                wanted = "attempts_exhausted"
            case _:
                wanted = "no reason at all"
        how = job["kwargs"].get("how")
        if job["crash_count"] == (0 if how in HANGS else charged):
            wanted = REASONS.get(how, wanted)
        if letters[0]["reason"] != wanted:
            yield f"job {job_id} died of {letters[0]['reason']}; its attempts say {wanted}"


def tokens_are_for_running_jobs(evidence):
    """A token is RUNNING and RUNNING is a token; at rest there is neither."""
    for job_id, job in evidence.jobs.items():
        if (job["status"] == "RUNNING") != (job["lease_token"] is not None):
            yield f"job {job_id} is {job['status']} with token {job['lease_token']}"
        if job["status"] == "RUNNING":
            yield f"job {job_id} is RUNNING at rest"


def moves_are_legal(evidence):
    """Every change of status is an arrow of the diagram, in an unbroken chain; what has ended only a replay touches."""
    for job_id, moves in evidence.moves.items():
        status = None
        for move in moves:
            if move["old_status"] != status:
                yield f"job {job_id} went from {move['old_status']} after it had come to {status}"
            if move["old_status"] in TERMINAL and (move["old_status"], move["new_status"]) not in REPLAYS:
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
                attempts = evidence.attempts.get(job_id, [])
                # One that was given back is no attempt: the next to be closed may be another run's.
                closed = [a for a in attempts if a["started_at"] <= move["at"] <= a["finished_at"]]
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
