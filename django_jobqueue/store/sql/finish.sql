-- moves      RUNNING → SUCCESSFUL; closes the attempt; a REPLAYED letter → RESOLVED
-- index      the primary key for the jobs, jobqueue_letter_replayed for the letters
-- safe because  the token is the fence, and jobqueue_job_token_is_running makes it imply RUNNING. To name the status as well would
--            let the planner walk the index of running rows, full of dead entries, instead of the primary key
WITH settled AS (
    UPDATE {job} AS job
    SET status = 'SUCCESSFUL',
        finished_at = statement_timestamp(),
        result = mine.result,
        lease_token = NULL,
        lease_expires_at = NULL
    FROM unnest(%(ids)s::bigint[], %(tokens)s::uuid[], %(results)s::jsonb[]) AS mine (id, token, result)
    WHERE job.id = mine.id AND job.lease_token = mine.token
    RETURNING job.id, job.attempt_count, job.worker_id, job.last_attempted_at
), closed AS (
    INSERT INTO {attempt} (job_id, number, worker_id, started_at, finished_at, outcome)
    SELECT id, attempt_count, worker_id, last_attempted_at, statement_timestamp(), 'succeeded'
    FROM settled
), resolved AS (
    UPDATE {dead_letter} AS letter
    SET status = 'RESOLVED'
    WHERE letter.status = 'REPLAYED' AND letter.job_id = ANY (ARRAY(SELECT id FROM settled))
)
SELECT id FROM settled
