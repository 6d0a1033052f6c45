"""The policy's tables as triggers: PostgreSQL itself refuses a move of a job or a letter that is not drawn.

A new arrow in `policy.lifecycle` is in the triggers too; there is nothing to change here.
"""

from __future__ import annotations

from contextlib import contextmanager

from django.db import connection

from django_jobqueue.models import Attempt, DeadLetter, Job
from django_jobqueue.policy.lifecycle import LETTER_TRANSITIONS, TRANSITIONS

LAWS = {Job._meta.db_table: TRANSITIONS, DeadLetter._meta.db_table: LETTER_TRANSITIONS}

FUNCTIONS = """
CREATE FUNCTION law_of_moves() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    move text := NEW.status;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        move := OLD.status || ' > ' || NEW.status;
    END IF;
    IF NOT move = ANY (TG_ARGV) THEN
        RAISE EXCEPTION 'illegal move of % %: %', TG_TABLE_NAME, NEW.id, move;
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION law_of_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'attempt % of job % is history', OLD.number, OLD.job_id;
END $$;
"""


def install(cursor) -> None:
    """Have the database enforce what the policy says, until `remove`."""
    cursor.execute(FUNCTIONS)
    for table, transitions in LAWS.items():
        moves = sorted(str(move.new) if move.old is None else f"{move.old} > {move.new}" for move in transitions)
        words = ", ".join(f"'{move}'" for move in moves)
        cursor.execute(
            f"CREATE TRIGGER law_of_births AFTER INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION law_of_moves({words})"
        )
        cursor.execute(
            f"CREATE TRIGGER law_of_moves AFTER UPDATE ON {table} FOR EACH ROW "
            f"WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION law_of_moves({words})"
        )
    cursor.execute(
        f"CREATE TRIGGER law_of_history AFTER UPDATE ON {Attempt._meta.db_table} FOR EACH ROW "
        "EXECUTE FUNCTION law_of_history()"
    )


def remove(cursor) -> None:
    """Take the triggers away."""
    cursor.execute("DROP FUNCTION law_of_moves CASCADE; DROP FUNCTION law_of_history CASCADE")


@contextmanager
def enforced():
    """Have the law in force for a while."""
    with connection.cursor() as cursor:
        install(cursor)
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            remove(cursor)
