"""The oracle: what must hold when a run has come to rest, whatever was done to it.

Looks at the evidence, and at nothing that the product says of itself. Each rule answers with the breaches that it
found, in words; no words, no breach.
"""

from dataclasses import dataclass

from tests.chaos.harness import rules
from tests.chaos.harness.rules import TERMINAL
from tests.chaos.harness.rules_for_people import FOR_PEOPLE


@dataclass
class Allowed:
    """What a fault may cost besides time.

    `charges` says that an attempt may end as lost though its task did nothing wrong; `deaths` that a job may run
    out of attempts for it; `overlaps` that a run which was frozen goes on, for a moment, beside the next one.
    """

    charges: bool = False
    deaths: bool = False
    overlaps: bool = False


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


# --- The rules that some faults may break


def deaths_are_deserved(evidence):
    """A job that was made to succeed has succeeded."""
    for job_id, job in evidence.jobs.items():
        lives = 1 + len(evidence.entries(job_id, "replay"))
        is_doomed = job["kwargs"].get("failures", 0) >= job["max_attempts"] * lives or "how" in job["kwargs"]
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
        if evidence.jobs[job_id]["task"].endswith("work_atomic"):
            # Its effect is its row, which is not there before the COMMIT.
            continue
        for effect in effects:
            for start in evidence.starts[job_id]:
                if start["attempt"] > effect["attempt"] and start["at"] < effect["at"]:
                    yield f"job {job_id}: attempt {effect['attempt']} had its effect after {start['attempt']} had begun"


ALWAYS = (
    rules.enqueue_is_all_or_nothing,
    rules.atomic_work_is_there_with_the_success,
    rules.what_is_done_under_a_key_is_done_once,
    rules.attempts_are_contiguous_and_bounded,
    rules.attempts_do_not_overlap,
    rules.every_death_has_its_letter,
    rules.every_death_has_its_reason,
    rules.tokens_are_for_running_jobs,
    rules.moves_are_legal,
    rules.tokens_are_used_by_their_owner,
    rules.nobody_is_rescued_too_early,
    rules.results_are_of_the_last_attempt,
    *FOR_PEOPLE,
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
