-- moves      WAITING for limit → READY, in claim order, as many as their concurrency key, their task and their queue have slots left.
--            A slot is a READY or RUNNING job; a limit that a person has set stands for that of the row
-- index      jobqueue_job_limit, a probe for each backend, queue, task and key that has jobs waiting, then the first rows of those with
--            slots left; jobqueue_job_slots for those that have one
-- safe because  only this statement gives slots, one transaction at a time (admit_lock.sql), and it counts those that are given in
--            the same snapshot: what is changed meanwhile can only give some back. No counter is kept, so none can leak
-- ORM        none: there is no loose index scan
WITH RECURSIVE slots AS MATERIALIZED (
    SELECT
        backend, queue_name, task, COALESCE(concurrency_key, '') AS key,
        count(*) FILTER (WHERE key_limit IS NOT NULL) AS of_key,
        count(*) FILTER (WHERE task_limit IS NOT NULL) AS of_task,
        count(*) FILTER (WHERE queue_limit IS NOT NULL) AS of_queue
    FROM {job}
    WHERE (key_limit IS NOT NULL OR task_limit IS NOT NULL OR queue_limit IS NOT NULL) AND status IN ('READY', 'RUNNING')
    GROUP BY 1, 2, 3, 4
),
by_key AS MATERIALIZED (SELECT backend, key, sum(of_key) AS taken FROM slots GROUP BY 1, 2),
by_task AS MATERIALIZED (SELECT backend, task, sum(of_task) AS taken FROM slots GROUP BY 1, 2),
by_queue AS MATERIALIZED (SELECT backend, queue_name, sum(of_queue) AS taken FROM slots GROUP BY 1, 2),
lanes AS (
    (
        SELECT backend, queue_name, task, COALESCE(concurrency_key, '') AS key
        FROM {job}
        WHERE status = 'WAITING' AND waiting_for = 'limit'
        ORDER BY 1, 2, 3, 4
        LIMIT 1
    )
    UNION ALL
    SELECT next.*
    FROM lanes
    CROSS JOIN LATERAL (
        SELECT backend, queue_name, task, COALESCE(concurrency_key, '')
        FROM {job}
        WHERE status = 'WAITING' AND waiting_for = 'limit'
          AND (backend, queue_name, task, COALESCE(concurrency_key, '')) > (lanes.backend, lanes.queue_name, lanes.task, lanes.key)
        ORDER BY 1, 2, 3, 4
        LIMIT 1
    ) AS next
),
room AS (
    SELECT
        lanes.*,
        set_for_key.at_once AS key_set, set_for_task.at_once AS task_set, set_for_queue.at_once AS queue_set,
        COALESCE(by_key.taken, 0) AS key_taken, COALESCE(by_task.taken, 0) AS task_taken, COALESCE(by_queue.taken, 0) AS queue_taken
    FROM lanes
    LEFT JOIN by_key ON by_key.backend = lanes.backend AND by_key.key = lanes.key
    LEFT JOIN by_task ON by_task.backend = lanes.backend AND by_task.task = lanes.task
    LEFT JOIN by_queue ON by_queue.backend = lanes.backend AND by_queue.queue_name = lanes.queue_name
    LEFT JOIN {limit} AS set_for_key ON set_for_key.kind = 'key' AND set_for_key.target = lanes.key
    LEFT JOIN {limit} AS set_for_task ON set_for_task.kind = 'task' AND set_for_task.target = lanes.task
    LEFT JOIN {limit} AS set_for_queue ON set_for_queue.kind = 'queue' AND set_for_queue.target = lanes.queue_name
    WHERE current_setting('django_jobqueue.admits', true) = 'true'
),
candidates AS (
    SELECT
        waiting.id, waiting.priority, waiting.run_after, room.backend, room.queue_name, room.task, room.key,
        -- NULL: under no such limit. A limit that a person has set is for jobs that are under one at all.
        CASE WHEN waiting.key_limit IS NOT NULL THEN COALESCE(room.key_set, waiting.key_limit) - room.key_taken END AS key_left,
        CASE WHEN waiting.task_limit IS NOT NULL THEN COALESCE(room.task_set, waiting.task_limit) - room.task_taken END AS task_left,
        CASE WHEN waiting.queue_limit IS NOT NULL THEN COALESCE(room.queue_set, waiting.queue_limit) - room.queue_taken END AS queue_left
    FROM room
    CROSS JOIN LATERAL (
        SELECT first.key_limit, first.task_limit, first.queue_limit
        FROM {job} AS first
        WHERE first.status = 'WAITING' AND first.waiting_for = 'limit'
          AND first.backend = room.backend AND first.queue_name = room.queue_name AND first.task = room.task
          AND COALESCE(first.concurrency_key, '') = room.key
        ORDER BY first.priority DESC, first.run_after, first.id
        LIMIT 1
    ) AS head
    CROSS JOIN LATERAL (
        SELECT *
        FROM {job} AS each
        WHERE each.status = 'WAITING' AND each.waiting_for = 'limit'
          AND each.backend = room.backend AND each.queue_name = room.queue_name AND each.task = room.task
          AND COALESCE(each.concurrency_key, '') = room.key
        ORDER BY each.priority DESC, each.run_after, each.id
        LIMIT GREATEST(0, LEAST(
            %(limit)s::bigint,
            CASE WHEN head.key_limit IS NOT NULL THEN COALESCE(room.key_set, head.key_limit) - room.key_taken END,
            CASE WHEN head.task_limit IS NOT NULL THEN COALESCE(room.task_set, head.task_limit) - room.task_taken END,
            CASE WHEN head.queue_limit IS NOT NULL THEN COALESCE(room.queue_set, head.queue_limit) - room.queue_taken END
        ))
    ) AS waiting
),
in_key AS (
    SELECT *, row_number() OVER (PARTITION BY backend, key, key_left IS NULL ORDER BY priority DESC, run_after, id) AS place
    FROM candidates
),
in_task AS (
    SELECT
        id, priority, run_after, backend, queue_name, task, task_left, queue_left,
        row_number() OVER (PARTITION BY backend, task, task_left IS NULL ORDER BY priority DESC, run_after, id) AS place
    FROM in_key
    WHERE key_left IS NULL OR place <= key_left
),
in_queue AS (
    SELECT
        id, priority, run_after, queue_left,
        row_number() OVER (PARTITION BY backend, queue_name, queue_left IS NULL ORDER BY priority DESC, run_after, id) AS place
    FROM in_task
    WHERE task_left IS NULL OR place <= task_left
),
admitted AS (
    SELECT id
    FROM in_queue
    WHERE queue_left IS NULL OR place <= queue_left
    ORDER BY priority DESC, run_after, id
    LIMIT %(limit)s
)
UPDATE {job} AS job
SET status = 'READY', waiting_for = ''
WHERE job.id = ANY (ARRAY(
    SELECT waiting.id
    FROM {job} AS waiting
    -- As an array: a join may be planned as a walk through every job there is. Not as two comparisons: they would let the planner
    -- look for an id in the index of those that wait, where it is the last column.
    WHERE waiting.id = ANY (ARRAY(SELECT id FROM admitted)) AND waiting.status || ' for ' || waiting.waiting_for = 'WAITING for limit'
    FOR UPDATE SKIP LOCKED
))
RETURNING job.queue_name
