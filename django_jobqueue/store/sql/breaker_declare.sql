-- moves      nothing: makes the rows of breakers that are not there yet, closed
-- index      that of the unique name
-- safe because  a row that is there is left. It waits for a twin that is about to make the same one, once in the life of a breaker
-- ORM        CircuitBreaker.objects.bulk_create(…, ignore_conflicts=True)
INSERT INTO {breaker} (name)
SELECT declared.name
FROM unnest(%(names)s::varchar[]) AS declared (name)
WHERE NOT EXISTS (SELECT FROM {breaker} AS known WHERE known.name = declared.name)
ON CONFLICT (name) DO NOTHING
RETURNING name
