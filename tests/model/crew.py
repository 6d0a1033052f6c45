"""Three workers with what they believe, which may be wrong and often is, and a stranger who locks rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID

from django_jobqueue.models import Job
from django_jobqueue.store import admit
from django_jobqueue.store.session import connect
from tests.store.hands import Hand, Held


@dataclass(frozen=True)
class Grip:
    """A job in the hands of a worker: the lease that it was given, which it may have lost since."""

    worker: int
    held: Held
    is_unstarted: bool
    """Whether no runner was handed the job, so that it may be given back."""

    @property
    def id(self) -> int:
        return self.held.id

    @property
    def token(self) -> str:
        return str(self.held.token)


@dataclass(eq=False)
class Worker(Hand):
    """A hand that does not wait for others' locks, and what it believes."""

    believes: set[Grip] = field(default_factory=set)
    unheard: set[UUID] = field(default_factory=set)

    def _run(self, *statements):
        return self.session.run(*statements, statement_timeout_ms=1500)


class Crew:
    """Three workers, and a stranger who locks rows. Their connections outlive the examples."""

    def __init__(self) -> None:
        self.workers = [Worker(id=UUID(int=number)) for number in (1, 2, 3)]
        self.stranger = connect("default")

    def forget(self) -> None:
        for worker in self.workers:
            worker.believes.clear()
            worker.unheard.clear()

    def close(self) -> None:
        self.stranger.close()
        for worker in self.workers:
            worker.session.close()

    @contextmanager
    def lock(self, *job_ids: int) -> Iterator[None]:
        with self.stranger.transaction():
            self.stranger.execute(f"SELECT FROM {Job._meta.db_table} WHERE id = ANY (%s) FOR UPDATE", [list(job_ids)])
            yield

    @contextmanager
    def admit(self) -> Iterator[None]:
        """Have the stranger be the one who admits."""
        with self.stranger.transaction():
            self.stranger.execute("SELECT pg_advisory_xact_lock(%s)", [admit.LOCK])
            yield
