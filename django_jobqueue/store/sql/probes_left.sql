-- moves      nothing by itself: how many jobs of a breaker may begin now; NULL where a claim is not for one
-- index      jobqueue_job_running, once, for what runs already
-- safe because  see ready_probes.sql
-- ORM        none
CASE WHEN %(breaker)s::varchar IS NOT NULL THEN LEAST(%(at_most)s, COALESCE((
    SELECT GREATEST(
        0,
        CASE
            WHEN breaker.state = 'half_open' THEN %(probes)s - breaker.ended
            ELSE %(probes)s * 2 ^ LEAST(
                16, floor(extract(epoch FROM statement_timestamp() - breaker.changed_at) / %(ramp_step_seconds)s)
            )::int
        END - (
            SELECT count(*)
            FROM {job} AS running
            WHERE running.status = 'RUNNING'
              -- From here on in the index: before it are only those to be rescued, and the dead entries of all that ran.
              AND running.lease_expires_at > statement_timestamp()
              AND running.task = ANY (%(breaker_tasks)s::varchar[])
              AND running.last_attempted_at >= GREATEST(
                  breaker.changed_at, statement_timestamp() - make_interval(secs => %(pause_seconds)s)
              )
        )
    )
    FROM {breaker} AS breaker
    WHERE breaker.name = %(breaker)s::varchar AND current_setting('django_jobqueue.probed', true) = breaker.name
), 0)) END
