-- moves      no job: writes slices of a scope that are not there yet, each full, as they have counted before
-- index      jobqueue_credit_unique_slot
-- safe because  a slot that another transaction is about to write is passed over by its advisory lock, and one that was written since
--            this snapshot by ON CONFLICT, which finds it committed: nobody waits. Lock and row last until the caller's transaction ends
-- ORM        Credit.objects.bulk_create(…, ignore_conflicts=True), which waits for whoever writes the same
INSERT INTO {credit} (kind, backend, target, slot, amount, max_depth)
SELECT %(kind)s::varchar, %(backend)s::varchar, %(target)s::varchar, missing.slot, missing.amount, %(max_depth)s::int
FROM (
    SELECT slot, amount FROM unnest(%(slots)s::int[], %(amounts)s::int[]) AS missing (slot, amount)
    OFFSET 0
) AS missing
WHERE pg_try_advisory_xact_lock(hashtextextended(
    concat_ws(chr(31), 'jobqueue', %(kind)s::varchar, %(backend)s::varchar, %(target)s::varchar, missing.slot), 0
))
LIMIT %(width)s
ON CONFLICT (kind, backend, target, slot) DO NOTHING
RETURNING slot
