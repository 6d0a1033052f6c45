"""Every order of two deeds' steps that locks allow, by walking through the tree of choices depth first.

The oracle is serial: whatever the order, the rows and the answers are those of one deed after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.interleavings.deeds import Deed, plain
from tests.interleavings.stepping import Side
from tests.model import invariants, state
from tests.model.state import JobState


@dataclass(frozen=True)
class Run:
    """One order, and what came of it: `options` could have taken each step, and `ended` is who ended, in order."""

    order: str
    ended: str
    options: tuple[str, ...]
    answers: tuple[Any, ...]
    jobs: list[JobState]
    rules: tuple[Any, ...]
    """What people have paused, and the limits that they have set."""

    @property
    def end(self) -> tuple[Any, ...]:
        return (*self.answers, self.jobs, self.rules)


class Meeting:
    """Two deeds that meet. `set_up` fills an empty queue, and answers with the two.

    `then` is done when both have ended, before what they have left is compared: what a keeper does in its next cycle.
    """

    def __init__(
        self, sides: dict[str, Side], set_up: Callable[[], tuple[Deed, Deed]], then: Callable[[], object] | None = None
    ) -> None:
        self._sides = sides
        self._set_up = set_up
        self._then = then

    def check(self) -> int:
        """Compare every order with the serial ones; answer with how many there are."""
        serial = [self.run(prefer="ab"), self.run(prefer="ba")]
        ends = [run.end for run in serial]
        number = 0
        for run in self.all_orders():
            number += 1
            assert run.end in ends, f"order {run.order} is like neither serial one:\n{_story(run, *serial)}"
        return number

    def check_laws(self) -> int:
        """Walk through every order, where several verbs share a transaction: they are atomic one by one, not together.

        No order may break an invariant or a law, or end in a circle of locks.
        """
        number = 0
        for run in self.all_orders():
            number += 1
            assert not [answer for answer in run.answers if isinstance(answer, str)], _story(run)
        return number

    def check_pause(self) -> int:
        """Walk through every order of a claim and the pause of what it takes: no claim is committed after the pause.

        To be like a serial one is not enough here: who commits a claim after the pause was committed leaves what a
        claim before it would have left.
        """
        number = 0
        for run in self.all_orders():
            if run.ended == "ba":
                number += 1
                assert run.answers[0] == [], f"claimed after the pause was committed:\n{_story(run)}"
        return number

    def all_orders(self) -> Iterator[Run]:
        prefix: str | None = ""
        while prefix is not None:
            run = self.run(prefix)
            assert run.order.startswith(prefix), f"the same steps led elsewhere: {prefix}, {run.order}"
            yield run
            prefix = _next(run)

    def run(self, prefix: str = "", prefer: str = "ab") -> Run:
        """Take the steps of `prefix`, then those of the preferred side as long as it can."""
        state.clear()
        for side, deed in zip(self._sides.values(), self._set_up(), strict=True):
            side.start(deed)
        order, ended, options = "", "", []
        while choice := "".join(name for name in prefer if self._can_go(name)):
            name = prefix[len(order)] if len(order) < len(prefix) else choice[0]
            self._sides[name].step()
            for side in self._sides.values():
                if side.is_blocked:
                    side.look()
            order += name
            ended += "".join(each for each, side in self._sides.items() if side.is_done and each not in ended)
            options.append(choice)
        stuck = [side for side in self._sides.values() if not side.is_done]
        for side in stuck:
            # A circle: PostgreSQL breaks it, and the answer tells.
            while not side.is_done:
                side.look()
                if not side.is_blocked and not side.is_done:
                    side.step()
        jobs, limits = state.read(), state.limits()
        invariants.check(jobs, limits)
        if self._then is not None:
            self._then()
            jobs = state.read()
            invariants.check(jobs, limits)
        places = {job_id: place for place, job_id in enumerate(jobs)}
        answers = tuple(plain(side.answer, places) for side in self._sides.values())
        return Run(order, ended, tuple(options), answers, list(jobs.values()), (state.pauses(), limits))

    def _can_go(self, name: str) -> bool:
        side = self._sides[name]
        return not side.is_done and not side.is_blocked


def _next(run: Run) -> str | None:
    """Say how the next order begins: as this one, but for the last choice that had another option left."""
    for position in reversed(range(len(run.order))):
        later = run.options[position].partition(run.order[position])[2]
        if later:
            return run.order[:position] + later[0]
    return None


def _story(*runs: Run) -> str:
    return "\n".join(f"{run.order}: {run.answers} {run.jobs} {run.rules}" for run in runs)
