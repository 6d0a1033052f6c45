-- moves      RUNNING by this worker, under the token of a call that got no answer → RUNNING under a new token of its own
-- index      jobqueue_job_running, all of it: it is asked for once, when a worker comes back
-- safe because  only this worker's rows are touched, and only those whose claim it never heard of: no runner has them, so it gives
--            them back. A job that another worker has rescued from it has another token, and stays that worker's to settle
UPDATE {job} AS job
SET lease_token = %(token)s::uuid,
    lease_expires_at = statement_timestamp() + make_interval(secs => %(lease_seconds)s)
WHERE job.id = ANY (ARRAY(
    SELECT mine.id
    FROM {job} AS mine
    WHERE mine.status = 'RUNNING'
      AND mine.worker_id = %(worker_id)s::uuid
      AND mine.lease_token = ANY (%(tokens)s::uuid[])
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
))
RETURNING
    job.id, job.task, job.attempt_count, job.lease_token, job.worker_id, job.max_attempts,
    job.failure_count, job.interruption_count, job.snooze_count, job.crash_count,
    job.cancel_requested_at IS NOT NULL
