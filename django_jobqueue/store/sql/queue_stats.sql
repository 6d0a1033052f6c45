-- reads      live jobs, open letters and the newest attempts, counted by queue, task and kind
-- index      jobqueue_job_ready, _rated, _due, _parked and _running, jobqueue_letter_open, and the primary keys of attempt and
--            job: each ORDER BY is that of its index, so that the LIMIT ends the scan
-- safe because  it locks nothing, and looks at no more than a given number of rows of a kind. The recursive part finds the oldest job of every
--            priority by one probe each, so the age of the oldest is right beyond the cap too; of jobs under a rate it is that of those looked at
--            OFFSET 0 keeps the look at a letter's job a probe: on a table without statistics the planner would read all jobs once for
--            each attempt, or all of them in order
-- ORM        a query for each kind, and none for the first job of each priority
WITH RECURSIVE ready AS (
    (
        SELECT queue_name, task, run_after
        FROM {job}
        WHERE status = 'READY' AND rate_key IS NULL
        ORDER BY priority DESC, run_after, id
        LIMIT %(cap)s
    )
    UNION ALL
    (
        SELECT queue_name, task, run_after
        FROM {job}
        WHERE status = 'READY' AND rate_key IS NOT NULL
        ORDER BY backend, queue_name, task, rate_key
        LIMIT %(cap)s
    )
),
first_by_priority AS (
    (
        SELECT queue_name, task, priority, run_after
        FROM {job}
        WHERE status = 'READY' AND rate_key IS NULL
        ORDER BY priority DESC, run_after, id
        LIMIT 1
    )
    UNION ALL
    SELECT next.queue_name, next.task, next.priority, next.run_after
    FROM first_by_priority
    CROSS JOIN LATERAL (
        SELECT queue_name, task, priority, run_after
        FROM {job}
        WHERE status = 'READY' AND rate_key IS NULL AND priority < first_by_priority.priority
        ORDER BY priority DESC, run_after, id
        LIMIT 1
    ) AS next
),
waiting AS (
    SELECT
        queue_name, task, run_after,
        CASE WHEN run_after <= statement_timestamp() THEN 'due' ELSE waiting_for END AS kind
    FROM {job}
    WHERE status = 'WAITING' AND waiting_for IN ('time', 'retry', 'snooze')
    ORDER BY run_after, id
    LIMIT %(cap)s
),
parked AS (
    SELECT queue_name, task, parked_at
    FROM {job}
    WHERE status = 'WAITING' AND waiting_for = 'worker'
    ORDER BY task
    LIMIT %(cap)s
),
running AS (
    SELECT queue_name, task
    FROM {job}
    WHERE status = 'RUNNING'
    ORDER BY lease_expires_at
    LIMIT %(cap)s
),
letters AS (
    SELECT job_id
    FROM {dead_letter}
    WHERE status = 'OPEN'
    ORDER BY last_died_at DESC, id DESC
    LIMIT %(letter_cap)s
),
attempts AS (
    SELECT job_id, charged, finished_at
    FROM {attempt}
    ORDER BY id DESC
    LIMIT %(newest_attempts)s
),
counts AS (
    SELECT 'ready' AS kind, queue_name, task, count(*) AS number, min(run_after) AS due_since
    FROM ready
    GROUP BY queue_name, task
    UNION ALL
    SELECT 'oldest', queue_name, task, 0, run_after
    FROM first_by_priority
    UNION ALL
    SELECT kind, queue_name, task, count(*), min(run_after) FILTER (WHERE kind = 'due')
    FROM waiting
    GROUP BY kind, queue_name, task
    UNION ALL
    SELECT 'unknown', queue_name, task, count(*), min(parked_at)
    FROM parked
    GROUP BY queue_name, task
    UNION ALL
    SELECT 'running', queue_name, task, count(*), NULL
    FROM running
    GROUP BY queue_name, task
    UNION ALL
    SELECT 'dead', job.queue_name, job.task, count(*), NULL
    FROM letters
    CROSS JOIN LATERAL (SELECT queue_name, task FROM {job} WHERE id = letters.job_id OFFSET 0) AS job
    GROUP BY job.queue_name, job.task
    UNION ALL
    SELECT CASE WHEN charged THEN 'failed' ELSE 'not_failed' END, job.queue_name, job.task, count(*), NULL
    FROM attempts
    CROSS JOIN LATERAL (SELECT queue_name, task FROM {job} WHERE id = attempts.job_id OFFSET 0) AS job
    WHERE attempts.finished_at > statement_timestamp() - make_interval(secs => %(window_seconds)s)
    GROUP BY charged, job.queue_name, job.task
)
SELECT
    kind, queue_name, task, number,
    GREATEST(0, EXTRACT(EPOCH FROM statement_timestamp()) - EXTRACT(EPOCH FROM due_since))::float8 AS due_for_seconds
FROM counts
