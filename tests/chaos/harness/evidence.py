"""What a run has left behind: the rows of the database, and the ledgers of tasks, producer and person."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Evidence:
    """All that a checker looks at."""

    jobs: dict = field(default_factory=dict)
    attempts: dict = field(default_factory=dict)
    letters: dict = field(default_factory=dict)
    moves: dict = field(default_factory=dict)
    audit: list = field(default_factory=list)
    orders: set = field(default_factory=set)
    traces: Counter = field(default_factory=Counter)
    stale_refused: int = 0
    starts: dict = field(default_factory=dict)
    effects: dict = field(default_factory=dict)
    intents: dict = field(default_factory=dict)
    outcomes: dict = field(default_factory=dict)
    acts: dict = field(default_factory=dict)
    answers: dict = field(default_factory=dict)

    @property
    def accepted(self):
        """The jobs whose enqueue returned, by intent."""
        return {intent: fact["job"] for intent, fact in self.outcomes.items() if fact["what"] == "ok"}

    def charged_in_this_life(self, job_id):
        """Count the charged attempts of a job since it was last replayed."""
        replays = [move["at"] for move in self.moves.get(job_id, []) if move["old_status"] == "FAILED"]
        attempts = self.attempts.get(job_id, [])
        return sum(a["charged"] and (not replays or a["finished_at"] > replays[-1]) for a in attempts)

    def entries(self, job_id, action):
        """List the audit entries of what was done to a job."""
        return [entry for entry in self.audit if entry["object"] == f"job:{job_id}" and entry["action"] == action]


def collect(connection, ledger, intents, acts):
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
    evidence.audit = list(_rows(connection, "SELECT * FROM django_jobqueue_auditentry ORDER BY id"))
    evidence.orders = {row["key"] for row in _rows(connection, "SELECT key FROM stage_order")}
    evidence.traces = Counter(row["what"] for row in _rows(connection, "SELECT what FROM stage_trace"))
    (row,) = _rows(connection, "SELECT COALESCE(sum(stale_refused), 0)::int AS total FROM django_jobqueue_worker")
    evidence.stale_refused = row["total"]
    for fact in ledger.read("start", "effect"):
        facts = evidence.starts if fact["what"] == "start" else evidence.effects
        facts.setdefault(fact["job"], []).append(fact)
    for fact in intents.read("intent", "ok", "indeterminate", "rejected"):
        facts = evidence.intents if fact["what"] == "intent" else evidence.outcomes
        facts[fact["intent"]] = fact
    for fact in acts.read("act", "done", "refused", "unsure"):
        facts = evidence.acts if fact["what"] == "act" else evidence.answers
        facts[fact["act"]] = fact
    return evidence


def _rows(connection, query):
    cursor = connection.execute(query)
    names = [column.name for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
