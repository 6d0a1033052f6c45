-- moves      RUNNING, but never handed to a runner → READY, as if it had not been claimed
-- index      the primary key
-- safe because  the token is the fence. No attempt is written and attempt_count steps back: what no runner was handed is no attempt.
--            run_after stays, so the job keeps its place in the queue
UPDATE {job} AS job
SET status = 'READY',
    attempt_count = job.attempt_count - 1,
    started_at = CASE WHEN job.attempt_count > 1 THEN job.started_at END,
    last_attempted_at = CASE WHEN job.attempt_count > 1 THEN job.last_attempted_at END,
    lease_token = NULL,
    lease_expires_at = NULL,
    worker_id = NULL
FROM unnest(%(ids)s::bigint[], %(tokens)s::uuid[]) AS mine (id, token)
WHERE job.id = mine.id AND job.lease_token = mine.token
RETURNING job.id
