-- moves      lease_expires_at forward, and nothing else: RUNNING stays RUNNING. Says which jobs a person wants cancelled
-- index      the primary key; writes jobqueue_job_running
-- safe because  the token is compared under the row's lock. A row that another session has locked is left alone and reported busy,
--            not lost: its lease runs on and the next renewal asks again. Nothing waits here, so no order of locking is needed:
--            to ask for one would have the whole primary key read in that order, because sorting is switched off
WITH held AS (
    SELECT job.id
    FROM unnest(%(ids)s::bigint[], %(tokens)s::uuid[]) AS mine (id, token)
    JOIN {job} AS job ON job.id = mine.id AND job.lease_token = mine.token
    FOR NO KEY UPDATE OF job SKIP LOCKED
), renewed AS (
    UPDATE {job} AS job
    SET lease_expires_at = statement_timestamp() + make_interval(secs => %(lease_seconds)s)
    WHERE job.id = ANY (ARRAY(SELECT id FROM held))
    RETURNING job.id, job.lease_token AS token, job.cancel_requested_at IS NOT NULL AS is_unwanted, job.cancel_forced
)
SELECT
    mine.id,
    mine.token,
    CASE
        WHEN renewed.is_unwanted AND renewed.cancel_forced THEN 'forced'
        WHEN renewed.is_unwanted THEN 'unwanted'
        WHEN renewed.id IS NOT NULL THEN 'renewed'
        WHEN EXISTS (SELECT FROM {job} AS job WHERE job.id = mine.id AND job.lease_token = mine.token) THEN 'busy'
        ELSE 'lost'
    END
FROM unnest(%(ids)s::bigint[], %(tokens)s::uuid[]) AS mine (id, token)
LEFT JOIN renewed ON renewed.id = mine.id AND renewed.token = mine.token
