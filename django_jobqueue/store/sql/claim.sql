-- moves      READY → RUNNING, under a new lease token: the open attempt begins
-- index      the primary key; which rows are taken says ready_in_order.sql or ready_by_group.sql
-- safe because  rows are locked as they are chosen and locked ones are skipped, so two claims never meet; ARRAY(…) runs once, so
--            the limit holds under any plan; every later write must name the token. What is paused is left: who pauses waits
--            until every claim that may not have seen it is over, and holds the next ones back (hold.sql)
-- ORM        Job.objects.filter(status="READY", …).order_by("-priority", "run_after", "id").select_for_update(skip_locked=True)[:n]
--            and an update(…): two round trips, and a list of ids sent back and forth
UPDATE {job} AS job
SET status = 'RUNNING',
    lease_token = %(token)s::uuid,
    lease_expires_at = statement_timestamp() + make_interval(secs => %(lease_seconds)s),
    worker_id = %(worker_id)s::uuid,
    attempt_count = job.attempt_count + 1,
    last_attempted_at = statement_timestamp(),
    started_at = COALESCE(job.started_at, statement_timestamp()),
    unique_key = CASE WHEN job.unique_until_started THEN NULL ELSE job.unique_key END,
    -- From now on it counts by its row, if it comes back. -1: this claim has given up a credit (give_credits.sql).
    queue_credit = CASE job.queue_credit WHEN 1 THEN -1 WHEN -1 THEN 0 ELSE job.queue_credit END,
    task_credit = CASE job.task_credit WHEN 1 THEN -1 WHEN -1 THEN 0 ELSE job.task_credit END,
    key_credit = CASE job.key_credit WHEN 1 THEN -1 WHEN -1 THEN 0 ELSE job.key_credit END
WHERE job.id = ANY (ARRAY(
    {inner}
))
RETURNING
    job.id, job.task, job.version, job.attempt_count, job.args::text, job.kwargs::text,
    job.enqueued_at::text, job.started_at::text, job.last_attempted_at::text,
    job.edit_count, job.max_attempts, job.failure_count, job.interruption_count, job.snooze_count, job.crash_count,
    CASE WHEN job.attempt_count > 1 THEN (
        SELECT COALESCE(json_agg(attempt.worker_id ORDER BY attempt.number), '[]')::text
        FROM {attempt} AS attempt
        WHERE attempt.job_id = job.id
    ) END,
    -- As a number, because Python's datetime ends with the year 9999 and PostgreSQL's timestamps do not.
    job.priority, extract(epoch FROM job.run_after)::float8,
    CASE WHEN job.queue_credit = -1 THEN job.queue_name END AS freed_queue,
    CASE WHEN job.task_credit = -1 THEN job.task END AS freed_task,
    CASE WHEN job.key_credit = -1 THEN job.concurrency_key END AS freed_key
