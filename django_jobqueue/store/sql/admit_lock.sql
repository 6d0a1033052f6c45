-- moves      nothing: says whether this transaction may admit jobs, and has its next statements know; and whether any wait for it
-- index      jobqueue_job_limit, jobqueue_job_share and jobqueue_job_order, the first entry of each
-- safe because  who admits is alone until the commit, and counts in a statement that begins after all earlier ones were committed.
--            It does not wait: whoever else is at it does the same work. Lock and setting end with the transaction
-- ORM        none
SELECT
    set_config('django_jobqueue.admits', pg_try_advisory_xact_lock(%(lock)s)::text, true) = 'true',
    EXISTS (SELECT FROM {job} WHERE status = 'WAITING' AND waiting_for = 'limit')
    OR EXISTS (SELECT FROM {job} WHERE status = 'WAITING' AND waiting_for = 'share')
    OR EXISTS (SELECT FROM {job} WHERE status = 'WAITING' AND waiting_for = 'order')
