"""The rules for what a person does while workers are at work. Each answers with the breaches that it found."""

ALREADY = ("already_requested", "already_cancelled", "already_replayed", "already_resolved", "already_discarded")
ENDED = "finished"
"""What was asked to stop, and has ended meanwhile."""


def acts_are_on_record(evidence):
    """What was done has one audit entry, what was refused none; there is no entry of anything else."""
    entries = {}
    for entry in evidence.audit:
        entries.setdefault(int(entry["reason"].removeprefix("act ")), []).append(entry)
    for act in entries.keys() - evidence.acts.keys():
        yield f"act {act} was never asked for, and is on record"
    for act, fact in evidence.acts.items():
        answer, count = evidence.answers.get(act, {"what": "unsure"}), len(entries.get(act, []))
        if count not in {"done": (1,), "refused": (0,), "unsure": (0, 1)}[answer["what"]]:
            yield f"act {act} ({fact['verb']} of job {fact['job']}) was {answer['what']} and has {count} entries"


def what_is_asked_again_is_refused(evidence):
    """Who does not know whether it was done may ask again: if it was, the answer says so, and nothing is done twice."""
    on_record = {int(entry["reason"].removeprefix("act ")) for entry in evidence.audit}
    for act, fact in evidence.acts.items():
        if (answer := evidence.answers.get(act)) is None or fact["again"] not in on_record:
            continue
        if answer["what"] == "done" and not _died_between(evidence, fact["job"], evidence.acts[fact["again"]], fact):
            yield f"act {act} ({fact['verb']} of job {fact['job']}) was done a second time"
        if answer["what"] == "refused" and answer["code"] not in (*ALREADY, ENDED):
            yield f"act {act} ({fact['verb']} of job {fact['job']}) was refused as {answer['code']}"


def _died_between(evidence, job_id, one, other):
    return any(
        move["new_status"] == "FAILED" and one["at"] < move["at"].timestamp() < other["at"] + 1.0
        for move in evidence.moves.get(job_id, [])
    )


def a_replay_is_one_new_life(evidence):
    """A dead job is READY again as often as it was replayed."""
    for job_id, moves in evidence.moves.items():
        lives = sum(move["old_status"] == "FAILED" for move in moves)
        if lives != (replays := len(evidence.entries(job_id, "replay"))):
            yield f"job {job_id} was replayed {replays} times and came to life {lives} times"


def what_was_cancelled_does_not_come_back(evidence):
    """It ends CANCELLED, or SUCCESSFUL if that was faster; it is never READY again. Nothing else is CANCELLED."""
    for job_id, moves in evidence.moves.items():
        for move in moves:
            if move["is_unwanted"] and move["new_status"] in ("READY", "WAITING", "FAILED"):
                yield f"job {job_id} was to be cancelled and went to {move['new_status']}"
    for job_id, job in evidence.jobs.items():
        cancels = evidence.entries(job_id, "cancel")
        if cancels and job["status"] not in ("CANCELLED", "SUCCESSFUL"):
            yield f"job {job_id} was cancelled and is {job['status']}"
        if job["status"] == "CANCELLED" and not cancels:
            yield f"job {job_id} is CANCELLED, and nobody asked for it"


FOR_PEOPLE = (
    acts_are_on_record,
    what_is_asked_again_is_refused,
    a_replay_is_one_new_life,
    what_was_cancelled_does_not_come_back,
)
