-- moves      WAITING for worker → READY, or → WAITING for limit or share where the job needs a slot, what this worker knows
-- index      jobqueue_job_parked, by task
-- safe because  the rows are locked where they are chosen, and locked rows are left to whoever holds them
-- ORM        Job.objects.filter(status="WAITING", waiting_for="worker", …).update(status="READY", …), a task at a time
UPDATE {job} AS job
SET status = CASE WHEN COALESCE(job.share_weight, job.key_limit, job.task_limit, job.queue_limit) IS NULL THEN 'READY' ELSE 'WAITING' END,
    waiting_for = CASE
        WHEN COALESCE(job.share_weight, job.key_limit, job.task_limit, job.queue_limit) IS NULL THEN ''
        WHEN job.share_weight IS NULL THEN 'limit'
        ELSE 'share'
    END,
    parked_at = NULL
WHERE job.id = ANY (ARRAY(
    SELECT parked.id
    FROM {job} AS parked
    WHERE parked.status = 'WAITING'
      AND parked.waiting_for = 'worker'
      AND parked.backend = %(backend)s
      AND parked.task = ANY (%(tasks)s::varchar[])
      AND parked.version <= (%(versions)s::int[])[array_position(%(tasks)s::varchar[], parked.task)]
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
))
RETURNING job.queue_name
