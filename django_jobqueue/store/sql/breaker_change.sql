-- moves      nothing: opens or closes a breaker
-- index      that of the unique name
-- safe because  it names the generation whose counts it was decided by: of all who decide the same one has its way. A row that somebody
--            else has locked is passed over; whoever sees the counts decides again
-- ORM        CircuitBreaker.objects.filter(name=…, generation=…).update(…), which waits for a lock
UPDATE {breaker} AS breaker
SET state = %(state)s::varchar,
    generation = breaker.generation + 1,
    ended = 0,
    tripped = 0,
    window_started_at = statement_timestamp(),
    changed_at = statement_timestamp(),
    opened_at = CASE WHEN %(state)s::varchar = 'open' THEN COALESCE(breaker.opened_at, statement_timestamp()) END,
    openings = %(openings)s,
    next_probe_at = statement_timestamp() + make_interval(secs => %(pause_seconds)s::float8),
    reason = %(reason)s,
    set_by = ''
WHERE breaker.id = (
    SELECT id FROM {breaker} WHERE name = %(name)s AND generation = %(generation)s FOR UPDATE SKIP LOCKED
)
RETURNING breaker.name
