-- moves      nothing by itself: chooses and locks the rows of a claim, those that have waited longest, whatever their priority
-- index      jobqueue_job_group: a probe for each queue, task and priority that has ready jobs, then the first rows of those that the
--            worker serves; then the primary key
-- safe because  only what is taken is locked, and compared once more under the lock. Twice the limit is looked at, so that what others
--            have locked at this moment can be passed over; where they hold more, the claim comes back short
-- ORM        none: there is no loose index scan
WITH RECURSIVE groups AS (
    (
        SELECT queue_name, task, priority
        FROM {job}
        WHERE status = 'READY' AND rate_key IS NULL
        ORDER BY queue_name, task, priority DESC
        LIMIT 1
    )
    UNION ALL
    SELECT next.queue_name, next.task, next.priority
    FROM groups
    CROSS JOIN LATERAL (
        SELECT *
        FROM (
            (
                SELECT queue_name, task, priority, 1 AS choice
                FROM {job}
                WHERE status = 'READY' AND rate_key IS NULL
                  AND (queue_name, task) >= (groups.queue_name, groups.task)
                  AND (queue_name, task) <= (groups.queue_name, groups.task)
                  AND priority < groups.priority
                ORDER BY queue_name, task, priority DESC
                LIMIT 1
            )
            UNION ALL
            (
                SELECT queue_name, task, priority, 2
                FROM {job}
                WHERE status = 'READY' AND rate_key IS NULL AND (queue_name, task) > (groups.queue_name, groups.task)
                ORDER BY queue_name, task, priority DESC
                LIMIT 1
            )
        ) AS lower_or_other
        ORDER BY choice
        LIMIT 1
    ) AS next
),
candidates AS (
    SELECT oldest.id, oldest.run_after
    FROM groups
    CROSS JOIN LATERAL (
        SELECT first.id, first.run_after
        FROM {job} AS first
        WHERE first.status = 'READY' AND first.rate_key IS NULL
          AND (first.queue_name, first.task) >= (groups.queue_name, groups.task)
          AND (first.queue_name, first.task) <= (groups.queue_name, groups.task)
          AND first.priority = groups.priority
          AND first.backend = %(backend)s
          AND (
              first.version = 1
              OR first.version <= (%(versions)s::int[])[array_position(%(tasks)s::varchar[], first.task)]
          )
          AND (first.expires_at IS NULL OR first.expires_at > statement_timestamp())
          AND (first.crash_count = 0 OR %(suspects)s)
          AND first.run_after < statement_timestamp() - make_interval(secs => %(aging_seconds)s)
        ORDER BY first.queue_name, first.task, first.priority DESC, first.run_after, first.id
        LIMIT 2 * %(limit)s
    ) AS oldest
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
    ORDER BY oldest.run_after, oldest.id
    LIMIT 2 * %(limit)s
)
SELECT ready.id
FROM candidates
JOIN {job} AS ready ON ready.id = candidates.id AND ready.status = 'READY'
ORDER BY candidates.run_after, candidates.id
LIMIT %(limit)s
FOR UPDATE OF ready SKIP LOCKED
