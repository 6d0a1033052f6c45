-- moves      nothing: says how the breakers of a worker stand, and has the claims of this transaction pass over what they hold
-- index      that of the unique name
-- safe because  it comes after hold.sql and before the claims. A breaker that opens by itself waits for nobody, and holds for every
--            transaction that asks after its commit; who opens one by hand waits for the claims that are under way, as a pause does.
--            The setting ends with the transaction
-- ORM        none
WITH standing AS MATERIALIZED (
    SELECT
        breaker.name, breaker.state, breaker.generation, breaker.ended, breaker.tripped, breaker.openings,
        breaker.last_failure,
        extract(epoch FROM breaker.next_probe_at - statement_timestamp())::float8 AS probe_in_seconds,
        breaker.state = 'closed' AND breaker.generation > 0
        AND breaker.changed_at > statement_timestamp() - make_interval(secs => %(ramp_seconds)s) AS is_ramping
    FROM {breaker} AS breaker
    WHERE breaker.name = ANY (%(names)s::varchar[])
)
SELECT standing.*, (
    SELECT set_config('django_jobqueue.held_tasks', COALESCE(array_agg(one.task)::text, ''), true)
    FROM unnest(%(tasks)s::varchar[], %(breakers)s::varchar[]) AS one (task, breaker)
    WHERE one.breaker = ANY (ARRAY(SELECT name FROM standing WHERE state <> 'closed' OR is_ramping))
)
FROM standing
