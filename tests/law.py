"""The policy's tables as triggers: PostgreSQL itself refuses a move of a job or a letter that is not drawn.

The law of moves is in force for every test, for the workers too that it starts. A test may insert a row in any state,
and change one `by_hand`. Where only the verbs may touch rows, `strictly` adds the laws of births and of history.

A new arrow in `policy.lifecycle` is in the triggers at once; there is nothing to change here.
"""

from __future__ import annotations

from contextlib import contextmanager

from django.db import connection

from django_jobqueue.models import Attempt, DeadLetter, Job
from django_jobqueue.policy.lifecycle import LETTER_TRANSITIONS, TRANSITIONS

LAWS = {Job._meta.db_table: TRANSITIONS, DeadLetter._meta.db_table: LETTER_TRANSITIONS}

LAW_OF_MOVES = """
CREATE OR REPLACE FUNCTION law_of_moves() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    move text := NEW.status;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        move := OLD.status || ' > ' || NEW.status;
    END IF;
    IF NOT move = ANY (TG_ARGV) AND current_setting('law.by_hand', true) IS DISTINCT FROM 'on' THEN
        RAISE EXCEPTION 'illegal move of % %: %', TG_TABLE_NAME, NEW.id, move;
    END IF;
    RETURN NULL;
END $$
"""

LAW_OF_HISTORY = """
CREATE OR REPLACE FUNCTION law_of_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'attempt % of job % is history', OLD.number, OLD.job_id;
END $$
"""


def install() -> None:
    """Have the database enforce the law of moves, for good."""
    with connection.cursor() as cursor:
        cursor.execute(LAW_OF_MOVES)
        for table, transitions in LAWS.items():
            cursor.execute(
                f"CREATE OR REPLACE TRIGGER law_of_moves AFTER UPDATE ON {table} FOR EACH ROW "
                f"WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION law_of_moves({_words(transitions)})"
            )


@contextmanager
def by_hand():
    """Let a test make a move that no verb makes."""
    with connection.cursor() as cursor:
        cursor.execute("SET law.by_hand = 'on'")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET law.by_hand")


@contextmanager
def strictly():
    """Refuse rows that are born in the middle of their life, and changes to attempts that have ended."""
    with connection.cursor() as cursor:
        for table, transitions in LAWS.items():
            cursor.execute(
                f"CREATE OR REPLACE TRIGGER law_of_births AFTER INSERT ON {table} FOR EACH ROW "
                f"EXECUTE FUNCTION law_of_moves({_words(transitions)})"
            )
        cursor.execute(LAW_OF_HISTORY)
        cursor.execute(
            f"CREATE OR REPLACE TRIGGER law_of_history AFTER UPDATE ON {Attempt._meta.db_table} FOR EACH ROW "
            "EXECUTE FUNCTION law_of_history()"
        )
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION law_of_history CASCADE")
            for table in LAWS:
                cursor.execute(f"DROP TRIGGER law_of_births ON {table}")


def _words(transitions) -> str:
    moves = sorted(str(move.new) if move.old is None else f"{move.old} > {move.new}" for move in transitions)
    return ", ".join(f"'{move}'" for move in moves)
