-- moves      no job: takes credits for the due jobs that are about to be inserted, for all of the given scopes or for none
-- index      jobqueue_credit_unique_slot for the slices; for the jobs that count without a credit that of under_depth_of_….sql
-- safe because  only slices that nobody has locked are taken from, and they stay locked until the caller's transaction ends: a
--            rollback gives back, and who comes meanwhile takes from others. A slice counts for no more than this snapshot and its
--            newest row both say. Jobs without a credit are taken off the whole of what is locked here: two who do so from different
--            slices take together no more than there is, because each of them has taken off all
-- ORM        none: there is no UPDATE … WHERE id IN (SELECT … SKIP LOCKED) in one statement
WITH wanted AS MATERIALIZED (
    SELECT * FROM unnest(%(targets)s::varchar[], %(numbers)s::int[], %(limits)s::int[], %(ages)s::float8[])
        AS wanted (target, number, max_depth, max_age_seconds)
),
free AS MATERIALIZED (
    SELECT wanted.target, wanted.number, wanted.max_age_seconds, locked.id, LEAST(locked.amount, seen.amount) AS amount
    FROM wanted
    CROSS JOIN LATERAL (
        SELECT slice.id, slice.amount
        FROM {credit} AS slice
        WHERE slice.kind = %(kind)s AND slice.backend = %(backend)s AND slice.target = wanted.target
          AND slice.max_depth = wanted.max_depth
          AND slice.amount >= CASE WHEN %(width)s = 1 THEN wanted.number ELSE 1 END
        -- Each begins elsewhere, so that they seldom meet; who needs several takes the fullest.
        ORDER BY CASE WHEN %(width)s > 1 THEN -slice.amount END, slice.slot < %(first)s, slice.slot
        LIMIT %(width)s
        FOR UPDATE SKIP LOCKED
    ) AS locked
    CROSS JOIN LATERAL (SELECT amount FROM {credit} AS slice WHERE slice.id = locked.id) AS seen
),
enough AS MATERIALIZED (
    SELECT found.target
    FROM (
        SELECT target, number, max_age_seconds, sum(amount) AS amount FROM free GROUP BY target, number, max_age_seconds
    ) AS found
    WHERE found.amount >= found.number
      AND found.amount - found.number >= (
          SELECT count(*)
          FROM (
              SELECT
              FROM ({inner}) AS job
              WHERE job.backend = %(backend)s AND job.target = found.target
                AND job.credit IN (0, -1) AND job.run_after <= statement_timestamp()
              -- Whether it is too many; not how many.
              LIMIT found.amount - found.number + 1
          ) AS uncredited
      )
      AND (found.max_age_seconds IS NULL OR NOT EXISTS (
          SELECT
          FROM ({inner}) AS job
          WHERE job.backend = %(backend)s AND job.target = found.target AND job.credit IN (1, 0, -1)
            AND job.run_after < statement_timestamp() - make_interval(secs => found.max_age_seconds)
      ))
),
parts AS (
    SELECT
        id,
        LEAST(amount, number - COALESCE(sum(amount) OVER (
            PARTITION BY target ORDER BY amount DESC, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ), 0)) AS part
    FROM free
    WHERE (SELECT count(*) FROM enough) = (SELECT count(*) FROM wanted)
),
taken AS (
    UPDATE {credit} AS slice
    SET amount = slice.amount - parts.part, writes = slice.writes + 1
    FROM parts
    WHERE slice.id = parts.id AND parts.part > 0
    RETURNING slice.id
)
SELECT (SELECT count(*) FROM enough) = (SELECT count(*) FROM wanted), (SELECT count(*) FROM taken)
