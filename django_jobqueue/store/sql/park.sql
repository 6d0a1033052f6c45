-- moves      READY → WAITING for worker, where no living worker of the backend knows the task in this version; names those that
--            this worker does not know, known elsewhere or not
-- index      jobqueue_job_ready, its first rows: what every claim passes over stays at the head; jobqueue_job_rated, the first rows
--            of each queue and task
-- safe because  a row that is locked is left alone. No more than the limit is read: queues are told apart afterwards, or a backlog
--            in those of others would be read to its end. A worker that has just started is not known yet: it takes them back
-- ORM        none worth having: two hundred rows to and fro, to park one or two
WITH RECURSIVE lanes AS (
    (
        SELECT queue_name, task
        FROM {job}
        WHERE status = 'READY' AND rate_key IS NOT NULL AND backend = %(backend)s
        ORDER BY queue_name, task
        LIMIT 1
    )
    UNION ALL
    SELECT next.*
    FROM lanes
    CROSS JOIN LATERAL (
        SELECT queue_name, task
        FROM {job}
        WHERE status = 'READY' AND rate_key IS NOT NULL AND backend = %(backend)s
          AND (queue_name, task) > (lanes.queue_name, lanes.task)
        ORDER BY queue_name, task
        LIMIT 1
    ) AS next
),
head AS (
    (
        SELECT ready.id, ready.task, ready.version, ready.queue_name, ready.run_after
        FROM {job} AS ready
        WHERE ready.status = 'READY' AND ready.rate_key IS NULL AND ready.backend = %(backend)s
        ORDER BY ready.priority DESC, ready.run_after, ready.id
        LIMIT %(limit)s
    )
    UNION ALL
    SELECT first.*
    FROM lanes
    CROSS JOIN LATERAL (
        SELECT ready.id, ready.task, ready.version, ready.queue_name, ready.run_after
        FROM {job} AS ready
        WHERE ready.status = 'READY' AND ready.rate_key IS NOT NULL
          AND ready.backend = %(backend)s AND ready.queue_name = lanes.queue_name AND ready.task = lanes.task
        ORDER BY ready.rate_key, ready.priority DESC, ready.run_after, ready.id
        -- Of a task that is known here a newer version is found a few at a time.
        LIMIT CASE WHEN lanes.task = ANY (%(tasks)s::varchar[]) THEN 10 ELSE %(limit)s END
    ) AS first
),
unknown AS (
    SELECT head.id, head.task, head.version
    FROM head
    WHERE head.version > COALESCE((%(versions)s::int[])[array_position(%(tasks)s::varchar[], head.task)], 0)
      AND (%(served)s::text[] IS NULL OR head.queue_name LIKE ANY (%(served)s::text[]))
      AND (%(excluded)s::text[] IS NULL OR NOT head.queue_name LIKE ANY (%(excluded)s::text[]))
      AND head.run_after < statement_timestamp() - make_interval(secs => %(older_than_seconds)s)
),
parked AS (
    UPDATE {job} AS job
    SET status = 'WAITING', waiting_for = 'worker', parked_at = statement_timestamp()
    WHERE job.id = ANY (ARRAY(
        SELECT ready.id
        FROM unknown AS stranger
        JOIN {job} AS ready ON ready.id = stranger.id AND ready.status = 'READY'
        WHERE NOT EXISTS ({inner})
        FOR UPDATE OF ready SKIP LOCKED
    ))
    RETURNING 1
)
SELECT DISTINCT CASE WHEN unknown.task = ANY (%(tasks)s::varchar[]) THEN unknown.task || ' v' || unknown.version ELSE unknown.task END
FROM unknown
