"""One line a run, and the table of all of them."""

from collections import Counter
from dataclasses import dataclass

from tests.chaos.harness.recovery import quantile

HEAD = (
    "fault", "seed", "faults", "bites", "accepted", "rejected", "unsure", "effects", "lost", "unexplained", "burnt",
    "stale", "p50", "p99", "max", "budget", "within",
    "backlog", "drained", "of", "exit", "breaches",
)  # fmt: skip


@dataclass
class Report:
    """What one run came to."""

    name: str
    seed: int
    wounds: list
    evidence: object
    verdict: object
    recoveries: list
    exit_codes: list
    complaints: list
    budget: float | None = None
    drained: object = None

    @property
    def is_good(self):
        """Whether every invariant held, and every worker lived and left as it should."""
        return self.verdict.is_good and not self.complaints

    @property
    def exit_code(self):
        """0, or the first exit code of a worker that is another."""
        return next((code for code in self.exit_codes if code), 0)

    @property
    def kinds(self):
        """What is wrong, each by the name of its rule."""
        numbers = {"lost": self.verdict.lost, "unexplained": self.verdict.unexplained}
        breaches = [*self.verdict.breaches, *self.complaints]
        return {name for name, found in numbers.items() if found} | {breach.split(":")[0] for breach in breaches}

    def cells(self):
        """Return the line's values, in the order of HEAD."""
        effects = sum(map(len, self.evidence.effects.values()))
        outcomes = Counter(fact["what"] for fact in self.evidence.outcomes.values())
        return [
            self.name,
            str(self.seed),
            str(len(self.wounds)),
            str(sum(wound.bites for wound in self.wounds)),
            str(len(self.evidence.accepted)),
            str(outcomes["rejected"]),
            str(outcomes["indeterminate"]),
            str(effects),
            str(len(self.verdict.lost)),
            str(len(self.verdict.unexplained)),
            str(len(self.verdict.burnt)),
            str(self.evidence.stale_refused),
            _seconds(quantile(self.recoveries, 0.5)),
            _seconds(quantile(self.recoveries, 0.99)),
            _seconds(max(self.recoveries, default=None)),
            _seconds(self.budget),
            self._within(),
            *self._drained(),
            str(self.exit_code),
            str(len(self.verdict.breaches) + len(self.complaints)),
        ]

    def _within(self):
        """Return how many of the recoveries kept the budget, of how many."""
        if self.budget is None:
            return "-"
        return f"{sum(second <= self.budget for second in self.recoveries)}/{len(self.recoveries)}"

    def _drained(self):
        """Return the backlog of the last fault, the seconds that it took, and how many it may."""
        if self.drained is None:
            return "-", "-", "-"
        return str(self.drained.backlog), _seconds(self.drained.seconds), _seconds(self.drained.budget)

    def line(self):
        """Return the run in one line."""
        return "chaos " + " ".join(f"{name}={cell}" for name, cell in zip(HEAD, self.cells(), strict=True))

    def details(self):
        """Return what is wrong, in words; the first of each kind."""
        found = self.verdict
        groups = [found.lost, found.unexplained, found.breaches, self.complaints]
        return "\n".join(words for group in groups for words in group[:12])


def _seconds(value):
    return "-" if value is None else f"{value:.2f}"


def table(rows):
    """Write rows of cells under HEAD, aligned."""
    rows = [list(HEAD), *rows]
    widths = [max(len(row[n]) for row in rows) for n in range(len(HEAD))]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
