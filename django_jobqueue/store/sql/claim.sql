-- moves      READY → RUNNING, under a new lease token: the open attempt begins
-- index      jobqueue_job_ready, read in claim order and left at the limit
-- safe because  rows are locked as they are chosen and locked ones are skipped, so two claims never meet; ARRAY(…) runs once, so
--            the limit holds under any plan; every later write must name the token
-- ORM        Job.objects.filter(status="READY", …).order_by("-priority", "run_after", "id").select_for_update(skip_locked=True)[:n]
--            and an update(…): two round trips, and a list of ids sent back and forth
UPDATE {job} AS job
SET status = 'RUNNING',
    lease_token = %(token)s::uuid,
    lease_expires_at = statement_timestamp() + make_interval(secs => %(lease_seconds)s),
    worker_id = %(worker_id)s::uuid,
    attempt_count = job.attempt_count + 1,
    last_attempted_at = statement_timestamp(),
    started_at = COALESCE(job.started_at, statement_timestamp())
WHERE job.id = ANY (ARRAY(
    SELECT ready.id
    FROM {job} AS ready
    WHERE ready.status = 'READY'
      AND ready.backend = %(backend)s
      AND ready.task = ANY (%(tasks)s::varchar[])
      AND (%(served)s::text[] IS NULL OR ready.queue_name LIKE ANY (%(served)s::text[]))
      AND (%(excluded)s::text[] IS NULL OR NOT ready.queue_name LIKE ANY (%(excluded)s::text[]))
      AND (ready.expires_at IS NULL OR ready.expires_at > statement_timestamp())
    ORDER BY ready.priority DESC, ready.run_after, ready.id
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
))
RETURNING
    job.id, job.task, job.attempt_count, job.args::text, job.kwargs::text,
    job.enqueued_at::text, job.started_at::text, job.last_attempted_at::text,
    job.edit_count, job.max_attempts, job.failure_count, job.interruption_count, job.snooze_count, job.crash_count,
    CASE WHEN job.attempt_count > 1 THEN (
        SELECT COALESCE(json_agg(attempt.worker_id ORDER BY attempt.number), '[]')::text
        FROM {attempt} AS attempt
        WHERE attempt.job_id = job.id
    ) END,
    -- As a number, because Python's datetime ends with the year 9999 and PostgreSQL's timestamps do not.
    job.priority, extract(epoch FROM job.run_after)::float8
