-- moves      no job: gives credits back to one slice of a scope that nobody has locked
-- index      jobqueue_credit_unique_slot
-- safe because  it is in the transaction that ends their use: no count sees one without the other. It waits for nobody; what finds no
--            free slice is lost until the next count
-- ORM        Credit.objects.filter(…).select_for_update(skip_locked=True)[:1] and an update(…): two round trips
UPDATE {credit} AS slice
SET amount = slice.amount + %(number)s, writes = slice.writes + 1
WHERE slice.id = ANY (ARRAY(
    SELECT free.id
    FROM {credit} AS free
    WHERE free.kind = %(kind)s AND free.backend = %(backend)s AND free.target = %(target)s
    ORDER BY free.amount, free.id
    LIMIT 1
    FOR UPDATE SKIP LOCKED
))
RETURNING slice.id
