-- moves      what the statement inside moves; and gives the credits of what it claimed back to slices that nobody has locked, the
--            emptiest first
-- index      jobqueue_credit_unique_slot
-- safe because  a claim and what it gives back are one statement, so that no count sees one without the other. It waits for nobody;
--            what finds no free slice is lost until the next count: the depth is then not used to its end, and never exceeded
-- ORM        none
WITH claimed AS (
    {inner}
),
{credits_given}
SELECT * FROM claimed
