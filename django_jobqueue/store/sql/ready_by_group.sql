-- moves      nothing by itself: chooses and locks the rows of a claim
-- index      jobqueue_job_group: a probe for each queue and task that has ready jobs, then the first rows of those that the worker
--            serves; then the primary key
-- safe because  only what is taken is locked, in claim order, and compared once more under the lock. Twice the limit is looked at, so
--            that what others have locked at this moment can be passed over; where they hold more, the claim comes back short.
--            The pair is compared as a range, and the order names it, so that no other index will do
-- ORM        none: there is no loose index scan
WITH RECURSIVE groups AS (
    (
        SELECT queue_name, task
        FROM {job}
        WHERE status = 'READY' AND rate_key IS NULL
        ORDER BY queue_name, task
        LIMIT 1
    )
    UNION ALL
    SELECT next.queue_name, next.task
    FROM groups
    CROSS JOIN LATERAL (
        SELECT queue_name, task
        FROM {job}
        WHERE status = 'READY' AND rate_key IS NULL AND (queue_name, task) > (groups.queue_name, groups.task)
        ORDER BY queue_name, task
        LIMIT 1
    ) AS next
),
candidates AS (
    SELECT first.id, first.priority, first.run_after
    FROM groups
    CROSS JOIN LATERAL (
        SELECT ready.id, ready.priority, ready.run_after
        FROM {job} AS ready
        WHERE ready.status = 'READY'
          AND ready.rate_key IS NULL
          AND (ready.queue_name, ready.task) >= (groups.queue_name, groups.task)
          AND (ready.queue_name, ready.task) <= (groups.queue_name, groups.task)
          AND ready.backend = %(backend)s
          AND (
              ready.version = 1
              OR ready.version <= (%(versions)s::int[])[array_position(%(tasks)s::varchar[], ready.task)]
          )
          AND (ready.expires_at IS NULL OR ready.expires_at > statement_timestamp())
          AND (ready.crash_count = 0 OR %(suspects)s)
        ORDER BY ready.queue_name, ready.task, ready.priority DESC, ready.run_after, ready.id
        LIMIT 2 * %(limit)s
    ) AS first
    WHERE groups.task = ANY (%(tasks)s::varchar[])
      AND (%(served)s::text[] IS NULL OR groups.queue_name LIKE ANY (%(served)s::text[]))
      AND (%(excluded)s::text[] IS NULL OR NOT groups.queue_name LIKE ANY (%(excluded)s::text[]))
      AND NOT groups.queue_name LIKE ANY (ARRAY(
          SELECT pattern FROM {pause} WHERE kind = 'queue' AND (until IS NULL OR until > statement_timestamp())
      ))
      AND NOT groups.task LIKE ANY (ARRAY(
          SELECT pattern FROM {pause} WHERE kind = 'task' AND (until IS NULL OR until > statement_timestamp())
      ))
      AND NOT groups.task = ANY (ARRAY(
          SELECT unnest(NULLIF(current_setting('django_jobqueue.held_tasks', true), '')::varchar[])
      ))
      AND COALESCE(current_setting('django_jobqueue.holds', true), '') <> 'true'
    ORDER BY first.priority DESC, first.run_after, first.id
    LIMIT 2 * %(limit)s
)
SELECT ready.id
FROM candidates
JOIN {job} AS ready ON ready.id = candidates.id AND ready.status = 'READY'
ORDER BY candidates.priority DESC, candidates.run_after, candidates.id
LIMIT %(limit)s
FOR UPDATE OF ready SKIP LOCKED
