-- moves      nothing: says of each scope whether its slices are of the limit that is meant, which there are, what room they have, how
--            many due jobs without a credit are to be taken off it, how many were claimed lately, and whether the oldest due job is too old
-- index      jobqueue_credit_unique_slot; for the jobs that of under_depth_of_….sql: a count that ends at the room there is
-- safe because  it reads; who decides by it tries again, or refuses early
-- ORM        none: three aggregates over different rows
SELECT
    wanted.target,
    room.others,
    room.slots,
    room.amount,
    (
        SELECT count(*)
        FROM (
            -- One by one: before PostgreSQL 17 an IN would be compared row by row.
            SELECT
            FROM (VALUES (0::smallint), (-1::smallint)) AS none (credit)
            CROSS JOIN LATERAL (
                SELECT
                FROM ({inner}) AS job
                WHERE job.backend = %(backend)s AND job.target = wanted.target
                  AND job.credit = none.credit AND job.run_after <= statement_timestamp()
                LIMIT wanted.max_depth + 1
            ) AS job
            LIMIT wanted.max_depth + 1
        ) AS uncredited
    ),
    room.drained_per_second,
    wanted.max_age_seconds IS NOT NULL AND EXISTS (
        SELECT
        FROM (VALUES (1::smallint), (0::smallint), (-1::smallint)) AS any_of (credit)
        CROSS JOIN LATERAL (
            SELECT
            FROM ({inner}) AS job
            WHERE job.backend = %(backend)s AND job.target = wanted.target AND job.credit = any_of.credit
              AND job.run_after < statement_timestamp() - make_interval(secs => wanted.max_age_seconds)
            LIMIT 1
        ) AS old
    )
FROM unnest(%(targets)s::varchar[], %(limits)s::int[], %(ages)s::float8[]) AS wanted (target, max_depth, max_age_seconds)
CROSS JOIN LATERAL (
    SELECT
        count(*) FILTER (WHERE slice.max_depth <> wanted.max_depth) AS others,
        COALESCE(array_agg(slice.slot), '{}') AS slots,
        COALESCE(sum(slice.amount) FILTER (WHERE slice.max_depth = wanted.max_depth), 0)::int AS amount,
        -- What falls to a third in a minute adds up to a minute's worth.
        COALESCE(sum(slice.drained * exp(GREATEST(
            -50, LEAST(0, extract(epoch FROM slice.drained_at - statement_timestamp())::float8 / 60)
        ))) / 60, 0)::float8 AS drained_per_second
    FROM {credit} AS slice
    WHERE slice.kind = %(kind)s AND slice.backend = %(backend)s AND slice.target = wanted.target
) AS room
