-- moves      WAITING for order → READY, or → WAITING for limit or share where the job needs a slot too: the first of each order key, if it is
--            due, and nothing of its key is before it: no job that has had its turn and is not over, and no open letter of one
--            whose death holds up the others
-- index      jobqueue_job_order, a probe for each key; jobqueue_job_turn
-- safe because  only this statement gives a turn, one transaction at a time (admit_lock.sql); and a job that has the turn keeps it
--            through retries, rescues and parking until it is over: no other verb leads to or from waiting for order
-- ORM        none: there is no loose index scan
WITH RECURSIVE keys AS (
    (
        SELECT backend, order_key
        FROM {job}
        WHERE status = 'WAITING' AND waiting_for = 'order'
        ORDER BY backend, order_key
        LIMIT 1
    )
    UNION ALL
    SELECT next.backend, next.order_key
    FROM keys
    CROSS JOIN LATERAL (
        SELECT backend, order_key
        FROM {job}
        WHERE status = 'WAITING' AND waiting_for = 'order' AND (backend, order_key) > (keys.backend, keys.order_key)
        ORDER BY backend, order_key
        LIMIT 1
    ) AS next
),
turns AS (
    SELECT first.id
    FROM keys
    CROSS JOIN LATERAL (
        SELECT waiting.id, waiting.run_after
        FROM {job} AS waiting
        WHERE waiting.status = 'WAITING' AND waiting.waiting_for = 'order'
          AND waiting.backend = keys.backend AND waiting.order_key = keys.order_key
        ORDER BY waiting.id
        LIMIT 1
    ) AS first
    WHERE current_setting('django_jobqueue.admits', true) = 'true'
      AND first.run_after <= statement_timestamp()
      AND NOT EXISTS (
          SELECT FROM {job} AS before
          LEFT JOIN {dead_letter} AS letter ON letter.job_id = before.id AND before.status = 'FAILED'
          WHERE before.backend = keys.backend AND before.order_key = keys.order_key
            AND before.order_key IS NOT NULL
            AND (
                before.status IN ('READY', 'RUNNING')
                OR (before.status = 'WAITING' AND NOT before.waiting_for = 'order')
                OR (before.order_blocks AND before.status = 'FAILED')
            )
            AND (before.status <> 'FAILED' OR letter.status = 'OPEN')
      )
    LIMIT %(limit)s
)
UPDATE {job} AS job
SET status = CASE WHEN COALESCE(job.share_weight, job.key_limit, job.task_limit, job.queue_limit) IS NULL THEN 'READY' ELSE 'WAITING' END,
    waiting_for = CASE
        WHEN COALESCE(job.share_weight, job.key_limit, job.task_limit, job.queue_limit) IS NULL THEN ''
        WHEN job.share_weight IS NULL THEN 'limit'
        ELSE 'share'
    END
WHERE job.id = ANY (ARRAY(
    SELECT waiting.id
    FROM {job} AS waiting
    -- As an array: a join may be planned as a walk through every job there is. Not as two comparisons: they would let the planner
    -- look for an id in the index of those that wait, where it is the last column.
    WHERE waiting.id = ANY (ARRAY(SELECT id FROM turns)) AND waiting.status || ' for ' || waiting.waiting_for = 'WAITING for order'
    FOR UPDATE SKIP LOCKED
))
RETURNING job.queue_name
