-- moves      nothing by itself: the rows of a claim, where they were chosen before (claim_rated.sql)
-- index      none
-- safe because  whoever chose them has locked them
-- ORM        none
SELECT id FROM chosen
