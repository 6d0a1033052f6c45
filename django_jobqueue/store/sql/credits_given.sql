-- moves      nothing by itself: gives the credits of what a claim, called claimed, has taken back to slices that nobody has locked
-- index      jobqueue_credit_unique_slot
-- safe because  see give_credits.sql
-- ORM        none
freed AS (
    SELECT 'queue' AS kind, freed_queue AS target, count(*) AS number FROM claimed WHERE freed_queue IS NOT NULL GROUP BY 2
    UNION ALL
    SELECT 'task', freed_task, count(*) FROM claimed WHERE freed_task IS NOT NULL GROUP BY 2
    UNION ALL
    SELECT 'key', freed_key, count(*) FROM claimed WHERE freed_key IS NOT NULL GROUP BY 2
),
free AS MATERIALIZED (
    SELECT freed.kind, freed.target, freed.number, locked.id
    FROM freed
    CROSS JOIN LATERAL (
        SELECT slice.id
        FROM {credit} AS slice
        WHERE slice.kind = freed.kind AND slice.backend = %(backend)s AND slice.target = freed.target
        ORDER BY slice.amount, slice.id
        LIMIT 8
        FOR UPDATE SKIP LOCKED
    ) AS locked
),
parts AS (
    SELECT
        id, number,
        row_number() OVER (PARTITION BY kind, target ORDER BY id) AS place,
        count(*) OVER (PARTITION BY kind, target) AS slices
    FROM free
),
given AS (
    UPDATE {credit} AS slice
    SET amount = slice.amount + part.size,
        drained = part.size + slice.drained * exp(GREATEST(
            -50, LEAST(0, extract(epoch FROM slice.drained_at - statement_timestamp())::float8 / 60)
        )),
        drained_at = statement_timestamp(),
        writes = slice.writes + 1
    FROM parts
    CROSS JOIN LATERAL (SELECT number * place / slices - number * (place - 1) / slices AS size) AS part
    WHERE slice.id = parts.id AND part.size > 0
)
