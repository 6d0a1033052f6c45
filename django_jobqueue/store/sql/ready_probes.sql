-- moves      nothing by itself: chooses and locks the rows of a claim, no more than a breaker lets run. Half-open it takes, of the first
--            in claim order, those that have the most attempts left: who has failed comes before who has not, and would be probed to death
-- index      as ready_by_group.sql; then jobqueue_job_running, from now on, once, for what runs already
-- safe because  breaker_probe.sql has locked the breaker's row in an earlier statement of this transaction, so nobody else starts a job of
--            it between the count and the commit; where the lock was not given, none is chosen. A slot is a row, as that of a limit is:
--            a worker that dies with a probe loses it. What has run for longer than a pause counts no more, so that a probe that hangs
--            is not waited for
-- ORM        none
SELECT chosen.id
FROM (
    {ready_by_group}
) AS chosen
JOIN {job} AS job ON job.id = chosen.id
ORDER BY
    CASE WHEN (SELECT state FROM {breaker} WHERE name = %(breaker)s) = 'half_open' THEN
        job.failure_count - job.max_attempts
    END,
    job.priority DESC, job.run_after, job.id
LIMIT {probes_left}
