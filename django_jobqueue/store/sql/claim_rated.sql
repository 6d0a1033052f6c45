-- moves      READY → RUNNING, as claim.sql does, of plain jobs and of those under a rate, in one claim order; takes a token of each
--            bucket that these share
-- index      jobqueue_job_rated: a probe for each queue, task and key that has such jobs ready, then the first rows of those whose
--            buckets hold tokens; the unique targets of buckets and limits; for plain jobs those of ready_in_order.sql or ready_by_group.sql
-- safe because  only this statement spends tokens, one transaction at a time (rate_lock.sql), and writes in the same breath what is
--            left; where the lock was not given it takes plain jobs alone. Rows are locked as they are chosen, and locked ones
--            are skipped; what is counted against the tokens are the rows that it has locked. Times of jobs and of buckets are
--            those of one statement, so what was started can be checked against the rate to the microsecond
-- ORM        none: there is no loose index scan
WITH RECURSIVE lanes AS (
    (
        SELECT queue_name, task, rate_key
        FROM {job}
        WHERE status = 'READY' AND rate_key IS NOT NULL AND backend = %(backend)s
          AND current_setting('django_jobqueue.spends', true) = 'true'
          AND COALESCE(current_setting('django_jobqueue.holds', true), '') <> 'true'
        ORDER BY queue_name, task, rate_key
        LIMIT 1
    )
    UNION ALL
    SELECT next.*
    FROM lanes
    CROSS JOIN LATERAL (
        SELECT queue_name, task, rate_key
        FROM {job}
        WHERE status = 'READY' AND rate_key IS NOT NULL AND backend = %(backend)s
          AND (queue_name, task, rate_key) > (lanes.queue_name, lanes.task, lanes.rate_key)
        ORDER BY queue_name, task, rate_key
        LIMIT 1
    ) AS next
),
room AS MATERIALIZED (
    SELECT lane.queue_name, lane.task, lane.rate_key, buckets.*
    FROM lanes AS lane
    CROSS JOIN LATERAL (
        SELECT
            -- NULL: there is no such bucket.
            min(tokens) FILTER (WHERE kind = 'key') AS key_left,
            min(tokens) FILTER (WHERE kind = 'task') AS task_left,
            max(target) FILTER (WHERE kind = 'task') AS task_target,
            min(tokens) FILTER (WHERE kind = 'queue') AS queue_left,
            COALESCE(min(tokens), %(limit)s) AS tokens,
            max(extract(epoch FROM since - statement_timestamp()) + pace / 1000000.0) FILTER (WHERE tokens < 1) AS wait_seconds,
            bool_or(is_ahead) AS is_ahead
        FROM ({rate_buckets}) AS bucket
    ) AS buckets
    WHERE lane.task = ANY (%(tasks)s::varchar[])
      AND (%(served)s::text[] IS NULL OR lane.queue_name LIKE ANY (%(served)s::text[]))
      AND (%(excluded)s::text[] IS NULL OR NOT lane.queue_name LIKE ANY (%(excluded)s::text[]))
      AND NOT lane.queue_name LIKE ANY (ARRAY(
          SELECT pattern FROM {pause} WHERE kind = 'queue' AND (until IS NULL OR until > statement_timestamp())
      ))
      AND NOT lane.task LIKE ANY (ARRAY(
          SELECT pattern FROM {pause} WHERE kind = 'task' AND (until IS NULL OR until > statement_timestamp())
      ))
      AND NOT lane.task = ANY (ARRAY(
          SELECT unnest(NULLIF(current_setting('django_jobqueue.held_tasks', true), '')::varchar[])
      ))
),
-- The first jobs of all are among those of the lanes whose first jobs come first.
first_lanes AS (
    SELECT lane.*
    FROM room AS lane
    CROSS JOIN LATERAL (
        SELECT ready.priority, ready.run_after, ready.id
        FROM {job} AS ready
        WHERE {ready_in_lane}
        ORDER BY ready.priority DESC, ready.run_after, ready.id
        LIMIT 1
    ) AS head
    WHERE lane.tokens > 0
    ORDER BY head.priority DESC, head.run_after, head.id
    LIMIT %(limit)s
),
candidates AS (
    SELECT first.*, lane.queue_name, lane.task, lane.rate_key, lane.key_left, lane.task_left, lane.task_target, lane.queue_left
    FROM first_lanes AS lane
    CROSS JOIN LATERAL (
        SELECT ready.id, ready.priority, ready.run_after
        FROM {job} AS ready
        WHERE {ready_in_lane}
        ORDER BY ready.priority DESC, ready.run_after, ready.id
        -- One more, so that a row which somebody has locked does not hold up the next.
        LIMIT 1 + LEAST(lane.tokens, %(limit)s)
    ) AS first
    ORDER BY first.priority DESC, first.run_after, first.id
    LIMIT 2 * %(limit)s
),
locked AS MATERIALIZED (
    SELECT candidates.*
    FROM candidates
    JOIN {job} AS ready ON ready.id = candidates.id AND ready.status = 'READY'
    ORDER BY candidates.priority DESC, candidates.run_after, candidates.id
    FOR UPDATE OF ready SKIP LOCKED
),
in_key AS (
    SELECT *, row_number() OVER (PARTITION BY rate_key, key_left IS NULL ORDER BY priority DESC, run_after, id) AS place
    FROM locked
),
in_task AS (
    SELECT
        id, priority, run_after, queue_name, task, rate_key, task_left, queue_left,
        row_number() OVER (PARTITION BY task_target, task_left IS NULL ORDER BY priority DESC, run_after, id) AS place
    FROM in_key
    WHERE key_left IS NULL OR place <= key_left
),
in_queue AS (
    SELECT
        id, priority, run_after, queue_name, task, rate_key, queue_left,
        row_number() OVER (PARTITION BY queue_name, queue_left IS NULL ORDER BY priority DESC, run_after, id) AS place
    FROM in_task
    WHERE task_left IS NULL OR place <= task_left
),
plain AS MATERIALIZED (
    {inner}
),
chosen AS MATERIALIZED (
    SELECT id, queue_name, task, rate_key
    FROM (
        SELECT id, priority, run_after, queue_name, task, rate_key
        FROM in_queue
        WHERE queue_left IS NULL OR place <= queue_left
        UNION ALL
        SELECT id, priority, run_after, queue_name, task, NULL
        FROM {job}
        WHERE id = ANY (ARRAY(SELECT id FROM plain))
    ) AS either
    ORDER BY priority DESC, run_after, id
    LIMIT LEAST(%(limit)s, ({probes_left}))
),
claimed AS (
    {claim of chosen}
),
{credits_given},
spending AS MATERIALIZED (
    SELECT
        kind, target, min(tokens) AS tokens, min(since) AS since, max(pace) AS pace, min(burst) AS burst, sum(number) AS number
    FROM (
        SELECT queue_name, task, rate_key, 1 AS number FROM chosen WHERE rate_key IS NOT NULL
        UNION ALL
        SELECT queue_name, task, rate_key, 0 FROM room WHERE is_ahead
    ) AS lane
    CROSS JOIN LATERAL ({rate_buckets}) AS bucket
    WHERE lane.number > 0 OR bucket.is_ahead
    GROUP BY kind, target
),
spent AS (
    INSERT INTO {rate_bucket} (backend, kind, target, tokens, refilled_at, full_at)
    SELECT
        %(backend)s, kind, target, tokens - number, since,
        since + (burst - tokens + number) * pace * interval '1 microsecond'
    FROM spending
    ON CONFLICT (backend, kind, target)
        DO UPDATE SET tokens = EXCLUDED.tokens, refilled_at = EXCLUDED.refilled_at, full_at = EXCLUDED.full_at
)
SELECT
    -- In how many seconds there may be a token again, and so something to take.
    LEAST(
        (SELECT min(wait_seconds) FROM room),
        (
            SELECT min(CASE WHEN tokens > number THEN 0 ELSE extract(epoch FROM since - statement_timestamp()) + pace / 1000000.0 END)
            FROM spending
        )
    )::float8,
    claimed.*
FROM (VALUES (1)) AS one
LEFT JOIN claimed ON true
