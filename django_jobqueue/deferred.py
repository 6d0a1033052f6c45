"""Wait for the commit of a transaction on another database than the queue's, and know what waits for it.

Django calls a `Batch` back when the transaction is committed, and forgets it when that is rolled back, or a savepoint
that it was registered in. So what waits is what Django's list of callbacks holds, and nobody else keeps account of it.

Jobs that were asked for inside the same savepoints have one fate, and are one batch. It is registered anew with each of
them: tests look for the callbacks of a block by their places in the list. The first call does all.

A transaction may be open on the queue's own database besides. If that is rolled back its jobs are dropped too; if it is
still open at the commit of the other one, the INSERT is a part of it.
"""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from django_jobqueue.store.enqueue import Key, NewJob, key_of

logger = logging.getLogger("django_jobqueue")


@dataclass(frozen=True, slots=True, eq=False)
class Wish:
    """A job that was asked for: its id, and what the caller was answered with."""

    id: int
    job: NewJob
    result: Any


Insert = Callable[[Sequence[Wish]], None]


class Batch:
    """Jobs that one statement inserts, after the commit of the transaction on `rows` that they were asked for in."""

    def __init__(self, insert: Insert, *, rows: str, savepoints: set[str], others: list[weakref.ref[Batch]]) -> None:
        self.insert = insert
        self.savepoints = savepoints
        self.others = others
        """The batches of this transaction. Those that were rolled back are forgotten."""
        self._rows = rows
        self._wishes: list[tuple[Wish, _Block | None]] = []
        self._by_key: dict[Key, tuple[Wish, _Block | None]] = {}
        others.append(weakref.ref(self))

    def add(self, wishes: Iterable[Wish], block: _Block | None) -> None:
        """Take more jobs along."""
        for wish in wishes:
            self._wishes.append((wish, block))
            if wish.job.unique_key is not None:
                self._by_key[key_of(wish.job)] = (wish, block)

    @property
    def wishes(self) -> list[Wish]:
        """What is to be inserted, as far as it was not rolled back on the queue's database."""
        return [wish for wish, block in self._wishes if block is None or block.stands]

    def asked(self, key: Key) -> Wish | None:
        """Return what was asked for under a unique key."""
        wish, block = self._by_key.get(key, (None, None))
        return wish if block is None or block.stands else None

    def __call__(self) -> None:
        """Insert them. Whatever goes wrong is raised: the rows are committed, and their jobs are not there."""
        wishes = self.wishes
        self._wishes, self._by_key = [], {}
        if not wishes:
            return
        try:
            self.insert(wishes)
        except BaseException as error:
            # Django calls no callback after one that has raised.
            behind = [wish for other in self.others if (batch := other()) for wish in batch.wishes]
            _tell_of_loss([*wishes, *behind], self._rows, error)
            raise


class _Block:
    """A transaction, or a savepoint in it, that is open on the queue's own database.

    Its callback is the first of all: Django has emptied the list by then, and calls nobody after one that has raised.
    """

    def __init__(self, connection: BaseDatabaseWrapper, savepoints: set[str]) -> None:
        self.savepoints = savepoints
        self._connection = connection
        self._is_committed = False

    def __call__(self) -> None:
        self._is_committed = True

    @property
    def stands(self) -> bool:
        """Whether it was not rolled back: it is committed, or Django still knows what to call then."""
        return self._is_committed or any(hook[1] is self for hook in self._connection.run_on_commit)


def is_open(rows: str) -> bool:
    """Whether a transaction is open there whose commit Django will tell of.

    Where a project commits by hand (AUTOCOMMIT off) nobody does.
    """
    connection = connections[rows]
    return connection.in_atomic_block and connection.commit_on_exit


def wait(wishes: Sequence[Wish], insert: Insert, *, rows: str, using: str) -> None:
    """Have jobs inserted into the queue on `using` when the transaction on `rows` is committed."""
    connection = connections[rows]
    savepoints = set(connection.savepoint_ids)
    last = next(_hooks(rows), None)
    batch = last
    if batch is None or batch.savepoints != savepoints or batch.insert != insert:
        batch = Batch(insert, rows=rows, savepoints=savepoints, others=last.others if last else [])
    batch.add(wishes, _block_of(connections[using]) if connections[using].in_atomic_block else None)
    transaction.on_commit(batch, using=rows)


def batches(rows: str) -> list[Batch]:
    """Return what waits for the commit of the transaction on `rows`, the newest first."""
    return list(dict.fromkeys(_hooks(rows)))


def _block_of(connection: BaseDatabaseWrapper) -> _Block:
    """Return the block that is open there: those who ask in the same savepoints share one."""
    hooks, savepoints = connection.run_on_commit, set(connection.savepoint_ids)
    never_commits = any(getattr(block, "_from_testcase", False) for block in connection.atomic_blocks[:1])
    newest_first = reversed(hooks) if never_commits else hooks
    newest = next((hook[1] for hook in newest_first if isinstance(hook[1], _Block)), None)
    if newest is not None and newest.savepoints == savepoints:
        return newest
    block = _Block(connection, savepoints)
    # A TestCase captures callbacks by their places, so there it comes last.
    hooks.insert(len(hooks) if never_commits else 0, (savepoints, block, True))  # type: ignore[arg-type]  # the stubs know two
    return block


def _hooks(rows: str) -> Iterator[Batch]:
    return (hook[1] for hook in reversed(connections[rows].run_on_commit) if isinstance(hook[1], Batch))


def _tell_of_loss(wishes: Sequence[Wish], rows: str, error: BaseException) -> None:
    lost: dict[str, list[str]] = {}
    for wish in wishes:
        lost.setdefault(wish.job.task, []).append(str(wish.id))
    for task, ids in lost.items():
        # The words of the error may hold values of the row.
        logger.error(
            "a transaction on %r is committed, and the jobs of %s that it asked for are not inserted: %s. Ids: %s",
            rows,
            task,
            type(error).__name__,
            ", ".join(ids),
        )
