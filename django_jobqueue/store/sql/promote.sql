-- moves      WAITING (time, retry, snooze) → READY, or → WAITING for limit or share where the job needs a slot, when run_after has come; says
--            how many, and in how many seconds the next is due
-- index      jobqueue_job_due, from its low end
-- safe because  the rows are locked where they are chosen, and locked rows are left to whoever holds them
-- ORM        Job.objects.filter(status="WAITING", waiting_for__in=…, run_after__lte=Now()).update(status="READY", waiting_for="")
WITH promoted AS (
    UPDATE {job} AS job
    SET status = CASE WHEN COALESCE(job.share_weight, job.key_limit, job.task_limit, job.queue_limit) IS NULL THEN 'READY' ELSE 'WAITING' END,
        waiting_for = CASE
            WHEN COALESCE(job.share_weight, job.key_limit, job.task_limit, job.queue_limit) IS NULL THEN ''
            WHEN job.share_weight IS NULL THEN 'limit'
            ELSE 'share'
        END
    WHERE job.id = ANY (ARRAY(
        SELECT due.id
        FROM {job} AS due
        WHERE due.status = 'WAITING'
          AND due.waiting_for IN ('time', 'retry', 'snooze')
          AND due.run_after <= statement_timestamp()
        ORDER BY due.run_after, due.id
        LIMIT %(limit)s
        FOR UPDATE SKIP LOCKED
    ))
    RETURNING 1
)
SELECT
    (SELECT count(*) FROM promoted),
    (
        SELECT extract(epoch FROM min(later.run_after) - statement_timestamp())::float8
        FROM {job} AS later
        WHERE later.status = 'WAITING'
          AND later.waiting_for IN ('time', 'retry', 'snooze')
          AND later.run_after > statement_timestamp()
          -- Never is no moment to wait for, and before PostgreSQL 17 no number either.
          AND later.run_after < 'infinity'
    )
