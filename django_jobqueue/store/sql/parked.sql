-- reads      how many jobs wait for a worker, by task and version, of what neither this worker knows nor another one that lives
-- index      jobqueue_job_parked, by task, from its low end, so that the LIMIT ends the scan
-- safe because  it locks nothing, and looks at no more than the limit. Workers are asked about once for each task and version
-- ORM        a values() and annotate(Count) of a slice, and a look at the workers
SELECT stranger.task, stranger.version, stranger.jobs
FROM (
    SELECT job.task, job.version, count(*) AS jobs
    FROM (
        SELECT task, version
        FROM {job}
        WHERE status = 'WAITING'
          AND waiting_for = 'worker'
          AND backend = %(backend)s
          AND version > COALESCE((%(versions)s::int[])[array_position(%(tasks)s::varchar[], task)], 0)
        ORDER BY task
        LIMIT %(limit)s
    ) AS job
    GROUP BY job.task, job.version
) AS stranger
WHERE NOT EXISTS ({inner})
