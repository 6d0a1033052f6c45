"""Hear the producers' notifications: on a connection, and with a thread, apart from the working ones.

A connect that hangs then holds up nothing. Without it polling goes on: what is heard is only a hint.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import psycopg

from django_jobqueue.store.notify import CHANNEL, LOOK, STOP
from django_jobqueue.store.session import Session
from django_jobqueue.worker.link import Link
from django_jobqueue.worker.outage import in_a_line
from django_jobqueue.worker.wakeup import Ear, Wakeup

logger = logging.getLogger("django_jobqueue.worker")

RETRY_SECONDS = 5.0


class Listener:
    """Listens, and calls `heard` with the payloads that were notified, or may have been while nobody listened."""

    def __init__(self, using: str, wakeup: Wakeup, heard: Callable[[frozenset[str]], None]) -> None:
        self._wakeup, self._heard = wakeup, heard
        self._link = Link(Session(using), wakeup.wake)
        self._ear: Ear | None = None
        self._try_at = 0.0
        self._is_deaf = False
        self._knows_pooler = False
        self._link.start()

    def turn(self, now: float) -> None:
        """Take the connection that has come, or ask for one; cut one that does not come about."""
        reply = self._link.take()
        if reply is None and (deadline := self._link.deadline()) is not None and now >= deadline:
            self._link.cut()
        if reply is not None and reply.error is not None and not self._is_deaf:
            self._is_deaf = True
            logger.info("cannot listen (%s); polling goes on", in_a_line(reply.error))
        if reply is not None and reply.error is None:
            self._is_deaf = False
            self._ear, pooled = reply.answer
            self._note_pooler(pooled)
            self._wakeup.watch(self._ear, self._on_ready)
            # What was announced before this moment was not heard.
            self._heard(frozenset({LOOK, STOP}))
        if self._ear is None and not self._link.is_busy and now >= self._try_at:
            self._try_at = now + RETRY_SECONDS
            self._link.send(None, _listen)

    def doubt(self) -> None:
        """Hang up: the line to the database has failed, and this one may be dead without having said so."""
        self._drop()

    def listen_now(self) -> None:
        """Listen at the next turn: the database is back."""
        self._try_at = 0.0

    def close(self) -> None:
        """Hear no more."""
        self._drop()
        self._link.close()

    def _on_ready(self, _events: int) -> None:
        try:
            if self._ear is not None and (payloads := self._ear.heard()):
                self._heard(payloads)
        except psycopg.OperationalError as error:
            logger.info("the listening connection is gone (%s); polling goes on", in_a_line(error))
            self._drop()

    def _note_pooler(self, pooled: bool) -> None:
        if pooled and not self._knows_pooler:
            self._knows_pooler = True
            logger.info(
                "there is a pooler before PostgreSQL: if it pools transactions no NOTIFY is heard through it, "
                "and the option 'notify' should be False; polling goes on"
            )

    def _drop(self) -> None:
        if self._ear is not None:
            self._wakeup.forget(self._ear)
            self._ear.close()
            self._ear = None


def _listen(session: Session) -> tuple[Ear, bool]:
    return Ear(session.listen(CHANNEL)), session.is_pooled
