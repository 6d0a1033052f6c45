-- moves      nothing: says whether the claims of this transaction are to take nothing, and has them know
-- index      jobqueue_job_rated, its first entry; the pauses are a handful
-- safe because  whoever changes what may be claimed holds the same advisory lock exclusively until their commit, which they get
--            when no claim is under way, and the claim reads the control rows in its next statement, in a newer snapshot. It does not
--            wait: while somebody changes something, it takes nothing. Lock and setting end with the transaction
-- ORM        none
SELECT
    set_config('django_jobqueue.holds', (NOT pg_try_advisory_xact_lock_shared(%(lock)s))::text, true) = 'true',
    EXISTS (SELECT FROM {pause} WHERE until IS NULL OR until > statement_timestamp()),
    -- In this order no other index will do; EXISTS would forget the order.
    (
        SELECT true
        FROM {job}
        WHERE status = 'READY' AND rate_key IS NOT NULL
        ORDER BY backend, queue_name, task, rate_key
        LIMIT 1
    ) IS NOT NULL
