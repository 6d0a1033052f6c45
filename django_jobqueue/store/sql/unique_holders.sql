-- moves      nothing
-- index      jobqueue_job_unique_live, once a key
-- safe because  it only reads: who ends meanwhile is no holder any more, and the caller asks again
-- ORM        Job.objects.filter(backend=…, task=…, unique_key=…, status__in=LIVE), once a key
SELECT job.backend, job.task, job.unique_key, job.id, job.status, job.enqueued_at
FROM unnest(%(backends)s::varchar[], %(tasks)s::varchar[], %(unique_keys)s::varchar[]) AS wanted (
    backend, task, unique_key
)
JOIN {job} AS job
    ON job.backend = wanted.backend AND job.task = wanted.task AND job.unique_key = wanted.unique_key
WHERE job.unique_key IS NOT NULL AND job.status IN ('WAITING', 'READY', 'RUNNING')
