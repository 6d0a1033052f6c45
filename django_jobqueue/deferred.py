"""Wait for the commit of a transaction on another database than the queue's, and know what waits for it.

Django calls a `Batch` back when the transaction is committed, and forgets it when that is rolled back, or a savepoint
that it was registered in. So what waits is what Django's list of callbacks holds, and nobody else keeps account of it.

Jobs that were asked for inside the same savepoints have one fate, and are one batch of their queue. It is registered
anew with each of them: tests look for the callbacks of a block by their places in the list. The first call does all.

A transaction may be open on the queue's own database besides. If that is rolled back its jobs are dropped too; if it is
still open at the commit of the other one, the INSERT is a part of it.

What is hard here is to know what stands. Django tells nobody of a rollback: it takes callbacks from its list, the
latest ones, all since the savepoint began. At a commit it empties the list first, calls one after the other, and calls
nobody after one that has raised. So each `_Block` leaves a callback of its own, before all others.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from django_jobqueue.store.enqueue import Enqueued, Key, NewJob, key_of

logger = logging.getLogger("django_jobqueue")


@dataclass(slots=True, eq=False)
class Wish:
    """A job that was asked for: its id, and what the caller was answered with."""

    id: int
    job: NewJob
    result: Any
    twins: list[Any] = field(default_factory=list)
    """What those were answered with who asked for the same job later in the transaction."""

    blocks: tuple[_Block, ...] = ()
    """The blocks that it was asked for in, on the database of the rows and on that of the queue: its fate is theirs."""

    @property
    def stands(self) -> bool:
        """Whether it was not rolled back."""
        return all(block.stands for block in self.blocks)


class Queue(Protocol):
    """Who inserts what was wished for."""

    def insert(self, wishes: Sequence[Wish]) -> Mapping[int, Enqueued]:
        """Insert jobs, all or none; the answer, by ids, has those that are there."""

    def tell(self, wishes: Sequence[Wish], rows: Mapping[int, Enqueued]) -> None:
        """Tell all whom it concerns what became of them."""


class Batch:
    """Jobs that one statement inserts, after the commit of the block on `rows` that they were asked for in."""

    def __init__(self, queue: Queue, block: _Block, rows: str) -> None:
        self.queue, self.block = queue, block
        self._rows = rows
        self._wishes: list[Wish] = []

    def add(self, wishes: Sequence[Wish]) -> None:
        """Take more jobs along."""
        self._wishes += wishes
        line = self.block.line
        for wish in wishes:
            line.by_id[wish.id] = wish
            if wish.job.unique_key is not None:
                # One that was under this key before it was rolled back, or there would be no second one.
                line.by_key[key_of(wish.job)] = wish

    @property
    def wishes(self) -> list[Wish]:
        """What is to be inserted, as far as it was not rolled back on the queue's database."""
        standing = {block for block in {block for wish in self._wishes for block in wish.blocks[1:]} if block.stands}
        return [wish for wish in self._wishes if standing.issuperset(wish.blocks[1:])]

    def __call__(self) -> None:
        """Insert them, and tell of it. What goes wrong is raised; the log names the jobs that are not there for it."""
        interruption = None
        for batch in self._with_those_behind():
            wishes = batch.pop()
            try:
                interruption = batch._come_true(wishes, interruption)
            except BaseException as error:
                behind = [wish for left in self._with_those_behind() for wish in left.pop()]
                _tell_of_loss([*wishes, *behind], self._rows, error)
                if interruption is None:
                    raise
                raise interruption from error
            if interruption is None:
                # Django calls the next.
                return
        if interruption is not None:
            raise interruption

    def _come_true(self, wishes: list[Wish], interruption: BaseException | None) -> BaseException | None:
        """Raise what kept the jobs from being inserted; return the first error that kept others from being told."""
        if wishes:
            rows = self.queue.insert(wishes)
            try:
                self.queue.tell(wishes, rows)
            except BaseException as error:
                return interruption or error
        return interruption

    def pop(self) -> list[Wish]:
        """Take what is to be inserted out of it."""
        wishes, line = self.wishes, self.block.line
        for wish in self._wishes:
            line.by_id.pop(wish.id, None)
            if line.by_key.get(key := key_of(wish.job)) is wish:
                del line.by_key[key]
        self._wishes = []
        return wishes

    def _with_those_behind(self) -> Iterator[Batch]:
        """Yield this one, and those that Django would call after it, but for an error."""
        yield self
        for block in self.block.line.blocks[self.block.place :]:
            if block.is_committed:
                yield from (batch for batch in block.batches if batch is not self)


class _Line:
    """The blocks of one transaction, each above those that it stands or falls with, and what was asked for in them."""

    def __init__(self) -> None:
        self.blocks: list[_Block] = []
        self.by_key: dict[Key, Wish] = {}
        self.by_id: dict[int, Wish] = {}

    def cut(self, length: int) -> None:
        """Forget the blocks that were rolled back: they are the last ones."""
        for block in self.blocks[length:]:
            for batch in block.batches:
                batch.pop()
        del self.blocks[length:]


class _Block:
    """A transaction, or a savepoint in it: what is done inside of the same savepoints has one fate."""

    def __init__(self, connection: BaseDatabaseWrapper, savepoints: set[str], line: _Line) -> None:
        self.savepoints, self.line = savepoints, line
        self.place = len(line.blocks)
        self.batches: list[Batch] = []
        self.is_committed = False
        self._connection = connection
        line.blocks.append(self)

    def __call__(self) -> None:
        self.is_committed = True

    @property
    def stands(self) -> bool:
        """Whether it was not rolled back: it is committed, or Django still knows what to call then."""
        if self.is_committed:
            return True
        newest = _newest(self._connection)
        # Django drops the latest first, so all stand that were there before one that does.
        return (
            newest is not None
            and newest.line is self.line
            and self.place <= newest.place
            and self.line.blocks[self.place] is self
        )


def is_open(rows: str) -> bool:
    """Whether a transaction is open there whose commit Django will tell of.

    Where a project commits by hand (AUTOCOMMIT off) nobody does.
    """
    connection = connections[rows]
    return connection.in_atomic_block and connection.commit_on_exit


def wait(wishes: Sequence[Wish], queue: Queue, *, rows: str, using: str) -> None:
    """Have jobs inserted into the queue on `using` when the transaction on `rows` is committed."""
    block = _block_of(connections[rows])
    blocks: tuple[_Block, ...] = (block,)
    if connections[using].in_atomic_block:
        of_queue = _block_of(connections[using])
        if _newest(connections[using]) is not of_queue:
            # In a TestCase nothing else speaks for it.
            transaction.on_commit(of_queue, using=using, robust=True)
        blocks = (block, of_queue)
    for wish in wishes:
        wish.blocks = blocks
    batch = next((batch for batch in block.batches if batch.queue is queue), None)
    if batch is None:
        batch = Batch(queue, block, rows)
        block.batches.append(batch)
    batch.add(wishes)
    transaction.on_commit(batch, using=rows)


def batches(rows: str) -> list[Batch]:
    """Return what waits for the commit of the transaction on `rows`, the first asked for first."""
    newest = _newest(connections[rows])
    standing = newest.line.blocks[: newest.place + 1] if newest else []
    return [batch for block in standing for batch in block.batches]


def asked(rows: str, key: Key) -> Wish | None:
    """Return what the transaction on `rows` has asked for under a unique key."""
    newest = _newest(connections[rows])
    wish = newest.line.by_key.get(key) if newest else None
    return wish if wish and wish.stands else None


def is_awaited(rows: str, number: int) -> bool:
    """Whether the transaction on `rows` has asked for a job of this id, and it is not inserted yet."""
    newest = _newest(connections[rows])
    wish = newest.line.by_id.get(number) if newest else None
    return wish is not None and wish.stands


def _newest(connection: BaseDatabaseWrapper) -> _Block | None:
    """Return the latest block that was asked in and was not rolled back."""
    hooks = connection.run_on_commit
    for hook in reversed(hooks) if _never_commits(connection) else hooks:
        match hook[1]:
            case _Block() as block:
                return block
            case Batch(block=block):
                return block
    return None


def _block_of(connection: BaseDatabaseWrapper) -> _Block:
    """Return the block that is open there: those who ask in the same savepoints share one."""
    newest, savepoints = _newest(connection), set(connection.savepoint_ids)
    if newest is not None and newest.savepoints == savepoints:
        return newest
    line = newest.line if newest else _Line()
    line.cut(newest.place + 1 if newest else 0)
    block = _Block(connection, savepoints, line)
    if not _never_commits(connection):
        connection.run_on_commit.insert(0, (savepoints, block, True))  # type: ignore[arg-type]  # the stubs know two
    return block


def _never_commits(connection: BaseDatabaseWrapper) -> bool:
    # A TestCase captures callbacks by their places: none may come before those of a test.
    return any(getattr(block, "_from_testcase", False) for block in connection.atomic_blocks[:1])


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
