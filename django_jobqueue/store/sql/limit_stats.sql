-- reads      jobs under a limit: those that have a slot, and those that wait for one, by backend, queue, task and key, with the
--            smallest and the largest number that their rows say
-- index      jobqueue_job_slots in its order, so that the LIMIT ends the scan; jobqueue_job_limit, a probe for each backend, queue,
--            task and key that has jobs waiting, then the first rows of each
-- safe because  it locks nothing, and looks at no more than `cap` jobs of a kind and ten of each of `lane_cap` lanes
-- ORM        none: there is no loose index scan
WITH RECURSIVE slots AS MATERIALIZED (
    SELECT backend, queue_name, task, COALESCE(concurrency_key, '') AS key, key_limit, task_limit, queue_limit
    FROM {job}
    WHERE (key_limit IS NOT NULL OR task_limit IS NOT NULL OR queue_limit IS NOT NULL) AND status IN ('READY', 'RUNNING')
    ORDER BY 1, 2, 3, 4
    LIMIT %(cap)s
),
lanes AS (
    (
        SELECT 1 AS number, backend, queue_name, task, COALESCE(concurrency_key, '') AS key
        FROM {job}
        WHERE status = 'WAITING' AND waiting_for = 'limit'
        ORDER BY backend, queue_name, task, COALESCE(concurrency_key, '')
        LIMIT 1
    )
    UNION ALL
    SELECT lanes.number + 1, next.*
    FROM lanes
    CROSS JOIN LATERAL (
        SELECT backend, queue_name, task, COALESCE(concurrency_key, '')
        FROM {job}
        WHERE status = 'WAITING' AND waiting_for = 'limit'
          AND (backend, queue_name, task, COALESCE(concurrency_key, '')) > (lanes.backend, lanes.queue_name, lanes.task, lanes.key)
        ORDER BY 1, 2, 3, 4
        LIMIT 1
    ) AS next
    WHERE lanes.number < %(lane_cap)s
),
each_lane AS MATERIALIZED (SELECT GREATEST(10, %(cap)s / GREATEST(1, count(*)))::bigint AS cap FROM lanes),
waiting AS (
    SELECT lanes.backend, lanes.queue_name, lanes.task, lanes.key, head.key_limit, head.task_limit, head.queue_limit
    FROM lanes
    CROSS JOIN LATERAL (
        SELECT key_limit, task_limit, queue_limit
        FROM {job} AS job
        WHERE job.status = 'WAITING' AND job.waiting_for = 'limit'
          AND job.backend = lanes.backend AND job.queue_name = lanes.queue_name AND job.task = lanes.task
          AND COALESCE(job.concurrency_key, '') = lanes.key
        ORDER BY job.priority DESC, job.run_after, job.id
        LIMIT (SELECT cap FROM each_lane)
    ) AS head
),
found AS (
    SELECT 'taken' AS state, slots.* FROM slots
    UNION ALL
    SELECT 'waiting', waiting.* FROM waiting
)
SELECT
    state, backend, queue_name, task, key,
    CASE state
        WHEN 'taken' THEN (SELECT count(*) FROM slots) >= %(cap)s
        ELSE count(*) >= (SELECT cap FROM each_lane)
    END AS met_its_cap,
    count(key_limit) AS of_key, min(key_limit) AS key_least, max(key_limit) AS key_most,
    count(task_limit) AS of_task, min(task_limit) AS task_least, max(task_limit) AS task_most,
    count(queue_limit) AS of_queue, min(queue_limit) AS queue_least, max(queue_limit) AS queue_most
FROM found
GROUP BY 1, 2, 3, 4, 5
