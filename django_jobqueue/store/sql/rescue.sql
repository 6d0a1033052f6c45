-- moves      RUNNING, its lease run out → RUNNING under the rescuer's token and a new lease; the rescuer then settles it as lost
-- index      jobqueue_job_running, from its low end
-- safe because  it is one compare-and-set: expiry is read again under the row's lock, and from here on the old token is dead. If
--            the rescuer dies before it settles, its lease runs out too and the next one rescues. worker_id and
--            last_attempted_at stay: the attempt that will be closed is the lost worker's. What the rescuer holds is known by its
--            tokens, not by its name: a claim of its own that was committed after it had given the call up is nobody's. A
--            statement that was held up on its way finds the rescuer's sign of life too old: the line of the others may
--            have been down as well, and they had no chance to renew
UPDATE {job} AS job
SET lease_token = %(token)s::uuid,
    lease_expires_at = statement_timestamp() + make_interval(secs => %(lease_seconds)s)
WHERE job.id = ANY (ARRAY(
    SELECT expired.id
    FROM {job} AS expired
    WHERE expired.status = 'RUNNING'
      AND expired.lease_expires_at <= statement_timestamp()
      AND expired.backend = %(backend)s
      AND NOT COALESCE(expired.lease_token = ANY (%(held_tokens)s::uuid[]), false)
    ORDER BY expired.lease_expires_at
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
) || ARRAY(
    -- A row that somebody set RUNNING by hand: no lease, so no end of one.
    SELECT adrift.id
    FROM {job} AS adrift
    WHERE adrift.status = 'RUNNING' AND adrift.lease_expires_at IS NULL AND adrift.backend = %(backend)s
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
))
AND (
    %(rescuer)s::uuid IS NULL
    OR EXISTS (
        SELECT FROM {worker} AS rescuer
        WHERE rescuer.id = %(rescuer)s::uuid
          AND rescuer.last_seen_at >= statement_timestamp() - make_interval(secs => %(contact_seconds)s)
    )
)
RETURNING
    job.id, job.task, job.attempt_count, job.lease_token, job.worker_id, job.max_attempts,
    job.failure_count, job.interruption_count, job.snooze_count, job.crash_count,
    job.cancel_requested_at IS NOT NULL
