-- moves      nothing: says whether a ready job of less than the highest priority has waited for so long
-- index      jobqueue_job_ready, the first entry of each priority: at most 201 probes, and two where all have the same
-- safe because  it reads. It does not ask who could take the job: the claim that follows does (ready_by_age.sql)
-- ORM        none: there is no loose index scan
WITH RECURSIVE heads AS (
    (
        SELECT priority, run_after, false AS is_below
        FROM {job}
        WHERE status = 'READY' AND rate_key IS NULL
        ORDER BY priority DESC, run_after, id
        LIMIT 1
    )
    UNION ALL
    SELECT next.priority, next.run_after, true
    FROM heads
    CROSS JOIN LATERAL (
        SELECT priority, run_after
        FROM {job}
        WHERE status = 'READY' AND rate_key IS NULL AND priority < heads.priority
        ORDER BY priority DESC, run_after, id
        LIMIT 1
    ) AS next
)
SELECT EXISTS (
    SELECT FROM heads WHERE is_below AND run_after < statement_timestamp() - make_interval(secs => %(aging_seconds)s)
)
