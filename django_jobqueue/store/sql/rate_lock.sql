-- moves      nothing: says whether the claims of this transaction may spend tokens, and has them know
-- index      none
-- safe because  who spends is alone until the commit, and looks at the buckets in a statement that begins after all earlier ones were
--            committed, in PostgreSQL's time too. It does not wait: whoever else is at it takes the same jobs. Lock and setting
--            end with the transaction
-- ORM        none
SELECT set_config('django_jobqueue.spends', pg_try_advisory_xact_lock(%(lock)s)::text, true) = 'true'
