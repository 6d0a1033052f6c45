"""What is wrong with a run besides the rows: a fault that nobody felt, a worker that floods its log.

Each answers with its complaints in words, which begin with their kind.
"""

from tests.chaos.harness.budgets import bound

LEAST_ACCEPTED = 10
LEAST_SHARE = 0.02
"""Of the jobs that would have been enqueued without any fault: a run of fewer has seen nothing."""

LINES_A_SECOND = 25
"""More than that in a worker's log, besides a line for each attempt that did not succeed, is a flood."""


def of_harmless_faults(wounds, evidence, wanted):
    """Name the faults that did nothing, and a run in which hardly one of the wanted jobs was accepted."""
    for kind in sorted({wound.kind for wound in wounds}):
        of_this_kind = [wound for wound in wounds if wound.kind == kind]
        harmless = [number for number, wound in enumerate(of_this_kind, 1) if not wound.bites]
        # One of many kinds may come at a moment at which it has nothing to bite; most may not.
        if len(harmless) > (len(of_this_kind) // 4 if kind else 0):
            yield f"harmless: nobody felt fault {harmless} of {len(of_this_kind)} {kind}".rstrip()
    if len(evidence.accepted) < max(LEAST_ACCEPTED, int(LEAST_SHARE * wanted)):
        yield f"harmless: {len(evidence.accepted)} jobs were accepted; that proves nothing"


def of_floods(workers, evidence, seconds):
    """Say that the workers' logs have grown too much, or hold tracebacks. How much they say, not what."""
    counts = [worker.log_lines() for worker in workers]
    lines, tracebacks = sum(c[0] for c in counts), sum(c[1] for c in counts)
    ended = sum(a["outcome"] != "succeeded" for attempts in evidence.attempts.values() for a in attempts)
    if lines > 3 * ended + LINES_A_SECOND * seconds * len(workers):
        yield f"flood: {lines} lines of log, {ended} of them for attempts: {tail(workers[0].log_path)}"
    if tracebacks:
        worst = max(workers, key=lambda worker: worker.log_lines()[1])
        yield f"flood: {tracebacks} tracebacks in the logs: {tail(worst.log_path)}"


def of_slowness(seconds, budget, drained):
    """Say that a fault was over, or its backlog worked off, much later than the design allows."""
    if budget is not None and max(seconds, default=0.0) > bound(budget):
        yield f"slow: it took {max(seconds):.1f} s until a fault was over"
    if drained is not None and drained.seconds > bound(drained.budget):
        yield f"slow: {drained.backlog} jobs took {drained.seconds:.1f} s, at {drained.pace:.0f} a second when healthy"


def tail(path, size=1500):
    """Return the end of a log."""
    return path.read_text(errors="replace")[-size:]
