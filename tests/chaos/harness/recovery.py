"""How long it took: read from the database's own record, by its own clock."""


def recoveries(evidence, wounds, claims):
    """List the seconds from each wound to the fact that it is closed.

    `claims` are (worker, moment) pairs in order. Where runners were taken, the fact is that each attempt in them is
    closed; else that each worker which claims at all later has claimed again; unless the fault has measured itself.
    """
    seconds = []
    for wound, after in zip(wounds, [*wounds[1:], None], strict=True):
        until = after.began_at if after else float("inf")
        if wound.seconds is not None:
            seconds += wound.seconds
        elif wound.pids:
            seconds += _closed(evidence, wound)
        else:
            seconds += _claimed(claims, wound.healed_at, until)
    return sorted(seconds)


def closings(evidence, how):
    """List the seconds from the start of each attempt of a job that does this to its process, to its being closed."""
    return sorted(
        attempts[start["attempt"]]["finished_at"].timestamp() - start["at"]
        for job_id, starts in evidence.starts.items()
        if evidence.jobs[job_id]["kwargs"].get("how") in how
        for attempts in [{attempt["number"]: attempt for attempt in evidence.attempts[job_id]}]
        for start in starts
    )


def _closed(evidence, wound):
    """Take the attempts that were open in the runners at that moment."""
    for job_id, starts in evidence.starts.items():
        attempts = {attempt["number"]: attempt for attempt in evidence.attempts.get(job_id, [])}
        for start in starts:
            attempt = attempts.get(start["attempt"])
            if attempt is None or start["pid"] not in wound.pids or start["at"] > wound.healed_at:
                continue
            if (after := attempt["finished_at"].timestamp() - wound.healed_at) > 0:
                yield after


def _claimed(claims, healed_at, until):
    """Take each worker's first claim; of one that the next fault came before it is known how long it took at least."""
    first = {}
    for worker_id, at in claims:
        if at > healed_at and worker_id not in first:
            first[worker_id] = at
    return [min(at, until) - healed_at for at in first.values()]


def claims_of(evidence):
    """List every claim as (worker, moment), in order."""
    moves = [move for moves in evidence.moves.values() for move in moves if move["old_status"] == "READY"]
    return sorted(
        ((m["worker_id"], m["at"].timestamp()) for m in moves if m["new_status"] == "RUNNING"),
        key=lambda claim: claim[1],
    )


def quantile(seconds, share):
    """Return the value that `share` of the sorted numbers do not exceed; None of nothing."""
    return seconds[min(len(seconds) - 1, int(share * len(seconds)))] if seconds else None
