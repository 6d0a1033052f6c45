-- moves      no job: deletes the slices of scopes that have no job, and had none claimed for a while
-- index      jobqueue_credit_unique_slot; for the jobs that of under_depth_of_….sql
-- safe because  slices that are not there count as full, and without a job that holds a credit that is what they are. Only where all
--            slices of the scope are locked here, the same as in the snapshot: then nobody has taken of them, and nobody counts
-- ORM        none
WITH RECURSIVE targets AS (
    (
        SELECT slice.target, 1 AS place
        FROM {credit} AS slice
        WHERE slice.kind = %(kind)s AND slice.backend = %(backend)s AND slice.target >= %(from_target)s::varchar
        ORDER BY slice.target
        LIMIT 1
    )
    UNION ALL
    SELECT next.target, targets.place + 1
    FROM targets
    CROSS JOIN LATERAL (
        SELECT slice.target
        FROM {credit} AS slice
        WHERE slice.kind = %(kind)s AND slice.backend = %(backend)s AND slice.target > targets.target
        ORDER BY slice.target
        LIMIT 1
    ) AS next
    WHERE targets.place < %(scopes)s
),
idle AS MATERIALIZED (
    SELECT targets.target, slices.number
    FROM targets
    CROSS JOIN LATERAL (
        SELECT count(*) AS number, max(slice.drained_at) AS drained_at, bool_or(slice.slot = 0) AS has_first
        FROM {credit} AS slice
        WHERE slice.kind = %(kind)s AND slice.backend = %(backend)s AND slice.target = targets.target
    ) AS slices
    WHERE slices.has_first
      AND slices.drained_at < statement_timestamp() - make_interval(secs => %(after_seconds)s)
      AND NOT EXISTS (
          SELECT FROM ({inner}) AS job WHERE job.backend = %(backend)s AND job.target = targets.target
      )
),
mine AS MATERIALIZED (
    SELECT idle.target, idle.number, locked.id
    FROM idle
    CROSS JOIN LATERAL (
        SELECT slice.id, slice.writes
        FROM {credit} AS slice
        WHERE slice.kind = %(kind)s AND slice.backend = %(backend)s AND slice.target = idle.target
        FOR UPDATE SKIP LOCKED
    ) AS locked
    CROSS JOIN LATERAL (SELECT writes FROM {credit} AS slice WHERE slice.id = locked.id) AS seen
    WHERE seen.writes = locked.writes
),
forgotten AS (
    DELETE FROM {credit} AS slice
    WHERE slice.id = ANY (ARRAY(
        SELECT mine.id FROM mine WHERE mine.number = (SELECT count(*) FROM mine AS each WHERE each.target = mine.target)
    ))
    RETURNING slice.id
)
SELECT count(*) FROM forgotten
