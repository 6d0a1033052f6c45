-- moves      nothing: adds how attempts have ended to the counts of their breakers
-- index      that of the unique name
-- safe because  a row that somebody else has locked is passed over, and its counts come with a later cycle. What began before the last
--            change of state says nothing of the present one and is dropped. A window that is over, by time or by number, begins anew
-- ORM        none: there is no SKIP LOCKED for an update
WITH given AS MATERIALIZED (
    SELECT *
    FROM unnest(
        %(names)s::varchar[], %(generations)s::bigint[], %(ended)s::int[], %(tripped)s::int[], %(failures)s::varchar[],
        %(window_seconds)s::float8[], %(sizes)s::int[]
    ) AS one (name, generation, ended, tripped, failure, window_seconds, size)
),
free AS MATERIALIZED (
    SELECT breaker.id,
        given.failure,
        CASE WHEN breaker.generation = given.generation THEN given.ended ELSE 0 END AS ended,
        CASE WHEN breaker.generation = given.generation THEN given.tripped ELSE 0 END AS tripped,
        breaker.state = 'closed' AND (
            breaker.ended >= given.size
            OR breaker.window_started_at <= statement_timestamp() - make_interval(secs => given.window_seconds)
        ) AS is_over
    FROM given
    JOIN {breaker} AS breaker ON breaker.name = given.name
    FOR UPDATE OF breaker SKIP LOCKED
)
UPDATE {breaker} AS breaker
SET ended = CASE WHEN free.is_over THEN 0 ELSE breaker.ended END + free.ended,
    tripped = CASE WHEN free.is_over THEN 0 ELSE breaker.tripped END + free.tripped,
    window_started_at = CASE WHEN free.is_over THEN statement_timestamp() ELSE breaker.window_started_at END,
    last_failure = CASE WHEN free.tripped > 0 THEN free.failure ELSE breaker.last_failure END
FROM free
WHERE breaker.id = free.id
RETURNING
    breaker.name, breaker.state, breaker.generation, breaker.ended, breaker.tripped, breaker.openings,
    breaker.last_failure, extract(epoch FROM breaker.next_probe_at - statement_timestamp())::float8, false
