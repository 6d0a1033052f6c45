-- moves      RUNNING, but never handed to a runner → READY, or WAITING for limit or share where the job needs a slot, as if it had
--            not been claimed; or CANCELLED, where a person has asked for it meanwhile, and then a REPLAYED letter → RESOLVED
-- index      the primary key for the jobs, jobqueue_letter_replayed for the letters
-- safe because  the token is the fence. No attempt is written and attempt_count steps back: what no runner was handed is no attempt.
--            run_after stays, so the job keeps its place in the queue
WITH given AS (
    UPDATE {job} AS job
    SET status = CASE
            WHEN job.cancel_requested_at IS NOT NULL THEN 'CANCELLED'
            WHEN COALESCE(job.share_weight, job.key_limit, job.task_limit, job.queue_limit) IS NOT NULL THEN 'WAITING'
            ELSE 'READY'
        END,
        waiting_for = CASE
            WHEN job.cancel_requested_at IS NOT NULL OR COALESCE(job.share_weight, job.key_limit, job.task_limit, job.queue_limit) IS NULL THEN ''
            WHEN job.share_weight IS NULL THEN 'limit'
            ELSE 'share'
        END,
        finished_at = CASE WHEN job.cancel_requested_at IS NOT NULL THEN statement_timestamp() END,
        attempt_count = job.attempt_count - 1,
        started_at = CASE WHEN job.attempt_count > 1 THEN job.started_at END,
        last_attempted_at = CASE WHEN job.attempt_count > 1 THEN job.last_attempted_at END,
        lease_token = NULL,
        lease_expires_at = NULL,
        worker_id = NULL
    FROM unnest(%(ids)s::bigint[], %(tokens)s::uuid[]) AS mine (id, token)
    WHERE job.id = mine.id AND job.lease_token = mine.token
    RETURNING job.id, job.status
), resolved AS (
    UPDATE {dead_letter} AS letter
    SET status = 'RESOLVED'
    WHERE letter.status = 'REPLAYED' AND letter.job_id = ANY (ARRAY(SELECT id FROM given WHERE status = 'CANCELLED'))
)
SELECT id, status FROM given
