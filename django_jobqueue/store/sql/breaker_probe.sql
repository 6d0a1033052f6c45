-- moves      nothing: asks to be the one that claims jobs of a breaker that is not simply closed, until the transaction ends; an open one
--            whose time has come is half-open from then on
-- index      that of the unique name
-- safe because  whoever has the row locked counts what runs, in a statement that begins afterwards, and claims no more than is left
--            (ready_probes.sql). It does not wait: one at a time is enough. The settings end with the transaction
-- ORM        none
UPDATE {breaker} AS breaker
SET state = CASE WHEN breaker.state = 'open' THEN 'half_open' ELSE breaker.state END,
    generation = CASE WHEN breaker.state = 'open' THEN breaker.generation + 1 ELSE breaker.generation END,
    changed_at = CASE WHEN breaker.state = 'open' THEN statement_timestamp() ELSE breaker.changed_at END,
    next_probe_at = NULL
WHERE breaker.id = (
    SELECT id
    FROM {breaker}
    WHERE name = %(name)s
      AND (
          state = 'half_open'
          OR (state = 'open' AND next_probe_at <= statement_timestamp())
          OR (
              state = 'closed' AND generation > 0
              AND changed_at > statement_timestamp() - make_interval(secs => %(ramp_seconds)s)
          )
      )
    FOR UPDATE SKIP LOCKED
)
RETURNING
    breaker.name, breaker.generation, breaker.changed_at = statement_timestamp(),
    set_config('django_jobqueue.held_tasks', '', true), set_config('django_jobqueue.probed', breaker.name, true)
