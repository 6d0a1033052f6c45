-- moves      WAITING for limit → READY, in claim order, as many as their concurrency key, their task and their queue have slots left.
--            A slot is a READY or RUNNING job; a limit that a person has set stands for that of the row
--            Says also where it has left off, if it has not come to the end of the lanes: backend, queue, task and key of jobs that wait
-- index      jobqueue_job_limit, a probe for each lane, then the first rows of those with slots left; see slots_taken.sql for the others
-- safe because  only this statement gives slots, one transaction at a time (admit_lock.sql), and it counts those that are given in
--            the same snapshot: what is changed meanwhile can only give some back. No counter is kept, so none can leak
-- ORM        none: there is no loose index scan
WITH RECURSIVE taken AS MATERIALIZED (
    {slots_taken}
),
lanes AS (
    (
        SELECT
            first.backend, first.queue_name, first.task, COALESCE(first.concurrency_key, '') AS key,
            first.key_limit, first.task_limit, first.queue_limit, 1 AS place
        FROM {job} AS first
        WHERE first.status = 'WAITING' AND first.waiting_for = 'limit'
          AND (first.backend, first.queue_name, first.task, COALESCE(first.concurrency_key, ''))
              > (%(after_backend)s::varchar, %(after_queue)s::varchar, %(after_task)s::varchar, %(after_key)s::varchar)
          AND current_setting('django_jobqueue.admits', true) = 'true'
        ORDER BY
            first.backend, first.queue_name, first.task, COALESCE(first.concurrency_key, ''),
            first.priority DESC, first.run_after, first.id
        LIMIT 1
    )
    UNION ALL
    SELECT next.*, lanes.place + 1
    FROM lanes
    CROSS JOIN LATERAL (
        SELECT
            first.backend, first.queue_name, first.task, COALESCE(first.concurrency_key, ''),
            first.key_limit, first.task_limit, first.queue_limit
        FROM {job} AS first
        WHERE first.status = 'WAITING' AND first.waiting_for = 'limit'
          AND (first.backend, first.queue_name, first.task, COALESCE(first.concurrency_key, ''))
              > (lanes.backend, lanes.queue_name, lanes.task, lanes.key)
        ORDER BY
            first.backend, first.queue_name, first.task, COALESCE(first.concurrency_key, ''),
            first.priority DESC, first.run_after, first.id
        LIMIT 1
    ) AS next
    WHERE lanes.place < %(lanes)s::int
),
room AS MATERIALIZED (
    SELECT
        lanes.*,
        (taken.set_by_hand ->> ('key ' || lanes.key))::int AS key_set,
        (taken.set_by_hand ->> ('task ' || lanes.task))::int AS task_set,
        (taken.set_by_hand ->> ('queue ' || lanes.queue_name))::int AS queue_set,
        COALESCE((taken.of_key ->> (length(lanes.backend) || ':' || lanes.backend || lanes.key))::int, 0) AS key_taken,
        COALESCE((taken.of_task ->> (length(lanes.backend) || ':' || lanes.backend || lanes.task))::int, 0) AS task_taken,
        COALESCE((taken.of_queue ->> (length(lanes.backend) || ':' || lanes.backend || lanes.queue_name))::int, 0) AS queue_taken
    FROM taken
    CROSS JOIN lanes
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
        SELECT LEAST(
            %(limit)s::bigint,
            CASE WHEN room.key_limit IS NOT NULL THEN COALESCE(room.key_set, room.key_limit) - room.key_taken END,
            CASE WHEN room.task_limit IS NOT NULL THEN COALESCE(room.task_set, room.task_limit) - room.task_taken END,
            CASE WHEN room.queue_limit IS NOT NULL THEN COALESCE(room.queue_set, room.queue_limit) - room.queue_taken END
        ) AS places
    ) AS of_first
    CROSS JOIN LATERAL (
        SELECT each.id, each.priority, each.run_after, each.key_limit, each.task_limit, each.queue_limit
        FROM {job} AS each
        WHERE each.status = 'WAITING' AND each.waiting_for = 'limit'
          AND each.backend = room.backend AND each.queue_name = room.queue_name AND each.task = room.task
          AND COALESCE(each.concurrency_key, '') = room.key
        ORDER BY each.priority DESC, each.run_after, each.id
        LIMIT GREATEST(0, of_first.places)
    ) AS waiting
    WHERE of_first.places > 0
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
),
moved AS (
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
)
SELECT
    ARRAY(SELECT queue_name FROM moved),
    (SELECT ARRAY[backend, queue_name, task, key] FROM lanes WHERE place = %(lanes)s::int)
