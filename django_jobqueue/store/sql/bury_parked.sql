-- moves      WAITING for worker → FAILED, what has been parked for too long and no living worker knows; opens the job's letter, or opens it again
-- index      jobqueue_job_parked for the jobs, the unique job_id for the letters
-- safe because  the rows are locked where they are chosen; job and letter change in one statement, so no FAILED job is ever without
--            its letter. There is no attempt to close: nobody has run it. The fingerprint is policy/fingerprint.py's, of a
--            failure without words
-- ORM        select_for_update(skip_locked=True), an update() and a get_or_create() for each
WITH buried AS (
    UPDATE {job} AS job
    SET status = 'FAILED', waiting_for = '', parked_at = NULL, finished_at = statement_timestamp()
    WHERE job.id = ANY (ARRAY(
        SELECT stranger.id
        FROM {job} AS stranger
        WHERE stranger.status = 'WAITING'
          AND stranger.waiting_for = 'worker'
          AND stranger.backend = %(backend)s
          AND stranger.parked_at < statement_timestamp() - make_interval(secs => %(after_seconds)s)
          AND stranger.version > COALESCE((%(versions)s::int[])[array_position(%(tasks)s::varchar[], stranger.task)], 0)
          AND NOT EXISTS ({inner})
        LIMIT %(limit)s
        FOR UPDATE SKIP LOCKED
    ))
    RETURNING
        job.id, job.task,
        CASE WHEN job.task = ANY (%(tasks)s::varchar[]) THEN 'unknown_version' ELSE 'unknown_task' END AS reason
),
letters AS (
    INSERT INTO {dead_letter} AS letter (job_id, status, reason, fingerprint, owner, deaths, first_died_at, last_died_at)
    SELECT
        id, 'OPEN', reason,
        left(encode(sha256(convert_to(task || E'\x1f' || reason || E'\x1f\x1f', 'UTF8')), 'hex'), 16),
        '', 1, statement_timestamp(), statement_timestamp()
    FROM buried
    ON CONFLICT (job_id) DO UPDATE
    SET status = 'OPEN',
        reason = EXCLUDED.reason,
        fingerprint = EXCLUDED.fingerprint,
        deaths = letter.deaths + 1,
        last_died_at = EXCLUDED.last_died_at
)
SELECT id, task, reason FROM buried
