-- moves      RUNNING → WAITING (retry, snooze), READY (release; WAITING for limit or share, where the job needs a slot), FAILED (bury) or CANCELLED; closes the attempt; a burial opens the
--            job's letter, or opens it again with one death more; a cancelled job's REPLAYED letter → RESOLVED
-- index      the primary key for the jobs, the unique job_id for the letters
-- safe because  the token is the fence, and jobqueue_job_token_is_running makes it imply RUNNING (see finish.sql); job, attempt and
--            letter change in one statement, so no FAILED job is ever without its letter. A request to cancel is read in the row
--            itself, so one that the worker has not heard of still holds: such a job is never retried or buried
WITH settled AS (
    UPDATE {job} AS job
    SET status = CASE
            WHEN job.cancel_requested_at IS NOT NULL THEN 'CANCELLED'
            WHEN mine.status = 'READY' AND COALESCE(job.share_weight, job.key_limit, job.task_limit, job.queue_limit) IS NOT NULL THEN 'WAITING'
            ELSE mine.status
        END,
        waiting_for = CASE
            WHEN job.cancel_requested_at IS NOT NULL THEN ''
            WHEN mine.status = 'READY' AND job.share_weight IS NOT NULL THEN 'share'
            WHEN mine.status = 'READY' AND COALESCE(job.key_limit, job.task_limit, job.queue_limit) IS NOT NULL THEN 'limit'
            ELSE mine.waiting_for
        END,
        run_after = CASE
            WHEN job.cancel_requested_at IS NULL AND mine.after_seconds IS NOT NULL
            THEN statement_timestamp() + make_interval(secs => mine.after_seconds)
            ELSE job.run_after
        END,
        finished_at = CASE
            WHEN mine.status IN ('FAILED', 'CANCELLED') OR job.cancel_requested_at IS NOT NULL THEN statement_timestamp()
        END,
        failure_count = job.failure_count + mine.charged::int,
        interruption_count = job.interruption_count + mine.interrupted::int,
        snooze_count = job.snooze_count + mine.snoozed::int,
        crash_count = job.crash_count + mine.crash::int,
        lease_token = NULL,
        lease_expires_at = NULL
    FROM unnest(
        %(ids)s::bigint[], %(tokens)s::uuid[], %(statuses)s::varchar[], %(waiting_fors)s::varchar[], %(after_seconds)s::float8[],
        %(outcomes)s::varchar[], %(charged)s::boolean[], %(interrupted)s::boolean[], %(snoozed)s::boolean[],
        %(crashes)s::boolean[], %(exception_classes)s::varchar[], %(messages)s::text[], %(tracebacks)s::text[],
        %(reasons)s::varchar[], %(fingerprints)s::varchar[], %(owners)s::varchar[]
    ) AS mine (
        id, token, status, waiting_for, after_seconds, outcome, charged, interrupted, snoozed, crash,
        exception_class, message, traceback, reason, fingerprint, owner
    )
    WHERE job.id = mine.id AND job.lease_token = mine.token
    RETURNING
        job.id, job.status, job.failure_count, job.max_attempts, job.attempt_count, job.worker_id, job.last_attempted_at,
        mine.outcome, mine.charged,
        mine.exception_class, mine.message, mine.traceback, mine.reason, mine.fingerprint, mine.owner
), closed AS (
    INSERT INTO {attempt} (
        job_id, number, worker_id, started_at, finished_at, outcome, charged, exception_class, message, traceback
    )
    SELECT
        id, attempt_count, worker_id, last_attempted_at, statement_timestamp(), outcome, charged,
        exception_class, message, traceback
    FROM settled
), buried AS (
    INSERT INTO {dead_letter} AS letter (
        job_id, status, reason, fingerprint, owner, deaths, first_died_at, last_died_at
    )
    SELECT id, 'OPEN', reason, fingerprint, owner, 1, statement_timestamp(), statement_timestamp()
    FROM settled
    WHERE status = 'FAILED'
    ON CONFLICT (job_id) DO UPDATE
    SET status = 'OPEN',
        reason = EXCLUDED.reason,
        fingerprint = EXCLUDED.fingerprint,
        owner = EXCLUDED.owner,
        deaths = letter.deaths + 1,
        last_died_at = EXCLUDED.last_died_at
), resolved AS (
    UPDATE {dead_letter} AS letter
    SET status = 'RESOLVED'
    WHERE letter.status = 'REPLAYED' AND letter.job_id = ANY (ARRAY(SELECT id FROM settled WHERE status = 'CANCELLED'))
)
SELECT id, status, failure_count, max_attempts FROM settled
