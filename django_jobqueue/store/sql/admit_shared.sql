-- moves      WAITING for share → READY, of the queues and tasks that this worker serves and knows, until as many are ready as it wants: by
--            lot among the tenants, and of a tenant in claim order; within the limits of key, task and queue. Also what no living
--            worker knows, to be parked. Says besides where it has left off, as admit_limited.sql does
-- index      jobqueue_job_share, a probe for each lane (queue, key, task), then the first rows of those that were drawn; jobqueue_job_slots
--            from end to end for the places that are taken; see slots_taken.sql
-- safe because  one transaction at a time admits (admit_lock.sql), and places are counted in the rows, in its snapshot: nothing is kept
--            that could leak. A tenant below its share (its part of all places, rounded up) goes before those that have theirs;
--            among equals each draw is won in proportion to the weights: the k-th place of a tenant comes after k
--            exponential waits of that rate, and whoever comes first has it
-- ORM        none: there is no loose index scan
WITH RECURSIVE taken AS MATERIALIZED (
    {slots_taken}
),
tenants_at_work AS MATERIALIZED (
    SELECT
        queue_name, COALESCE(concurrency_key, '') AS key, max(share_weight) AS weight, count(*) AS places,
        -- What is ready and can start here is for this worker to take, before any more.
        count(*) FILTER (
            WHERE status = 'READY'
              AND task = ANY (%(tasks)s::varchar[])
              AND version <= (%(versions)s::int[])[array_position(%(tasks)s::varchar[], task)]
              AND (crash_count = 0 OR %(suspects)s)
              AND (expires_at IS NULL OR expires_at > statement_timestamp())
              AND (%(served)s::text[] IS NULL OR queue_name LIKE ANY (%(served)s::text[]))
              AND (%(excluded)s::text[] IS NULL OR NOT queue_name LIKE ANY (%(excluded)s::text[]))
              AND NOT queue_name LIKE ANY (ARRAY(
                  SELECT pattern FROM {pause} WHERE kind = 'queue' AND (until IS NULL OR until > statement_timestamp())
              ))
              AND NOT task LIKE ANY (ARRAY(
                  SELECT pattern FROM {pause} WHERE kind = 'task' AND (until IS NULL OR until > statement_timestamp())
              ))
              AND NOT task = ANY (ARRAY(
                  SELECT unnest(NULLIF(current_setting('django_jobqueue.held_tasks', true), '')::varchar[])
              ))
        ) AS ready
    FROM {job}
    WHERE share_weight IS NOT NULL AND status IN ('READY', 'RUNNING') AND backend = %(backend)s
    GROUP BY 1, 2
),
lanes AS (
    (
        SELECT
            first.queue_name, COALESCE(first.concurrency_key, '') AS key, first.task, first.version, first.share_weight AS weight,
            first.key_limit, first.task_limit, first.queue_limit, 1 AS place
        FROM {job} AS first
        WHERE first.status = 'WAITING' AND first.waiting_for = 'share' AND first.backend = %(backend)s
          AND (first.queue_name, COALESCE(first.concurrency_key, ''), first.task)
              > (%(after_queue)s::varchar, %(after_key)s::varchar, %(after_task)s::varchar)
          AND current_setting('django_jobqueue.admits', true) = 'true'
          AND COALESCE(current_setting('django_jobqueue.holds', true), '') <> 'true'
        ORDER BY
            first.queue_name, COALESCE(first.concurrency_key, ''), first.task, first.priority DESC, first.run_after, first.id
        LIMIT 1
    )
    UNION ALL
    SELECT next.*, lanes.place + 1
    FROM lanes
    CROSS JOIN LATERAL (
        SELECT
            first.queue_name, COALESCE(first.concurrency_key, ''), first.task, first.version, first.share_weight,
            first.key_limit, first.task_limit, first.queue_limit
        FROM {job} AS first
        WHERE first.status = 'WAITING' AND first.waiting_for = 'share' AND first.backend = %(backend)s
          AND (first.queue_name, COALESCE(first.concurrency_key, ''), first.task) > (lanes.queue_name, lanes.key, lanes.task)
        ORDER BY
            first.queue_name, COALESCE(first.concurrency_key, ''), first.task, first.priority DESC, first.run_after, first.id
        LIMIT 1
    ) AS next
    WHERE lanes.place < %(lanes)s::int
),
served AS MATERIALIZED (
    SELECT
        lanes.*,
        lanes.version <= COALESCE((%(versions)s::int[])[array_position(%(tasks)s::varchar[], lanes.task)], 0) AS is_known,
        (taken.set_by_hand ->> ('key ' || lanes.key))::int AS key_set,
        (taken.set_by_hand ->> ('task ' || lanes.task))::int AS task_set,
        (taken.set_by_hand ->> ('queue ' || lanes.queue_name))::int AS queue_set,
        COALESCE((taken.of_key ->> (length(%(backend)s::text) || ':' || %(backend)s::text || lanes.key))::int, 0) AS key_taken,
        COALESCE((taken.of_task ->> (length(%(backend)s::text) || ':' || %(backend)s::text || lanes.task))::int, 0) AS task_taken,
        COALESCE((taken.of_queue ->> (length(%(backend)s::text) || ':' || %(backend)s::text || lanes.queue_name))::int, 0) AS queue_taken
    FROM taken
    CROSS JOIN lanes
    WHERE (%(served)s::text[] IS NULL OR lanes.queue_name LIKE ANY (%(served)s::text[]))
      AND (%(excluded)s::text[] IS NULL OR NOT lanes.queue_name LIKE ANY (%(excluded)s::text[]))
      AND NOT lanes.queue_name LIKE ANY (ARRAY(
          SELECT pattern FROM {pause} WHERE kind = 'queue' AND (until IS NULL OR until > statement_timestamp())
      ))
      AND NOT lanes.task LIKE ANY (ARRAY(
          SELECT pattern FROM {pause} WHERE kind = 'task' AND (until IS NULL OR until > statement_timestamp())
      ))
      AND NOT lanes.task = ANY (ARRAY(
          SELECT unnest(NULLIF(current_setting('django_jobqueue.held_tasks', true), '')::varchar[])
      ))
),
room AS MATERIALIZED (
    SELECT
        served.*, left_for_first.places AS lane_places,
        CASE WHEN served.queue_limit IS NOT NULL THEN COALESCE(served.queue_set, served.queue_limit) - served.queue_taken END AS queue_left
    FROM served
    CROSS JOIN LATERAL (
        SELECT LEAST(
            %(wanted)s::bigint,
            CASE WHEN served.key_limit IS NOT NULL THEN COALESCE(served.key_set, served.key_limit) - served.key_taken END,
            CASE WHEN served.task_limit IS NOT NULL THEN COALESCE(served.task_set, served.task_limit) - served.task_taken END,
            CASE WHEN served.queue_limit IS NOT NULL THEN COALESCE(served.queue_set, served.queue_limit) - served.queue_taken END
        ) AS places
    ) AS left_for_first
    WHERE left_for_first.places > 0
),
-- Who wants a place of a queue, or has one.
tenants AS MATERIALIZED (
    SELECT queue_name, key, max(weight) AS weight, max(places) AS places, min(queue_left) AS queue_left, bool_or(waits) AS waits
    FROM (
        SELECT queue_name, key, weight, places, NULL::bigint AS queue_left, false AS waits FROM tenants_at_work
        UNION ALL
        SELECT queue_name, key, max(weight), 0, min(queue_left), true FROM room WHERE is_known GROUP BY queue_name, key
    ) AS each
    GROUP BY queue_name, key
),
wanted AS MATERIALIZED (
    SELECT GREATEST(0, %(wanted)s::bigint - COALESCE((SELECT sum(ready) FROM tenants_at_work), 0))::bigint AS places
),
drawn AS MATERIALIZED (
    SELECT each.*, count(*) OVER () AS tenants
    FROM (
        SELECT
            queue_name, key, weight, places, share,
            GREATEST(0, places + 1 - share) / weight AS beyond, -ln(1 - random()) / weight AS lot
        FROM (
            SELECT
                queue_name, key, weight, places, waits,
                ceil(
                    (
                        sum(places) OVER (PARTITION BY queue_name)
                        + LEAST((SELECT places FROM wanted), min(queue_left) OVER (PARTITION BY queue_name))
                    ) * weight / sum(weight) OVER (PARTITION BY queue_name)
                )::float8 AS share
            FROM tenants
        ) AS shares
        WHERE waits
        ORDER BY beyond, lot
        LIMIT (SELECT places FROM wanted)
    ) AS each
),
candidates AS (
    SELECT
        waiting.id, waiting.priority, waiting.run_after, room.queue_name, room.task, room.key,
        drawn.places, drawn.share, drawn.weight, drawn.lot,
        -- NULL: under no such limit, as in admit_limited.sql.
        CASE WHEN waiting.key_limit IS NOT NULL THEN COALESCE(room.key_set, waiting.key_limit) - room.key_taken END AS key_left,
        CASE WHEN waiting.task_limit IS NOT NULL THEN COALESCE(room.task_set, waiting.task_limit) - room.task_taken END AS task_left,
        CASE WHEN waiting.queue_limit IS NOT NULL THEN COALESCE(room.queue_set, waiting.queue_limit) - room.queue_taken END AS queue_left
    FROM drawn
    JOIN room ON room.queue_name = drawn.queue_name AND room.key = drawn.key AND room.is_known
    CROSS JOIN LATERAL (
        SELECT each.id, each.priority, each.run_after, each.version, each.crash_count, each.key_limit, each.task_limit, each.queue_limit
        FROM {job} AS each
        WHERE each.status = 'WAITING' AND each.waiting_for = 'share' AND each.backend = %(backend)s
          AND each.queue_name = room.queue_name AND COALESCE(each.concurrency_key, '') = room.key AND each.task = room.task
        ORDER BY each.priority DESC, each.run_after, each.id
        -- Twice what each would get if all had so many; if some have fewer, the next look gives the rest.
        LIMIT LEAST(room.lane_places, ceil(2.0 * (SELECT places FROM wanted) / drawn.tenants)::bigint)
    ) AS waiting
    WHERE waiting.version <= (%(versions)s::int[])[array_position(%(tasks)s::varchar[], room.task)]
      AND (waiting.crash_count = 0 OR %(suspects)s)
),
of_tenant AS (
    SELECT *, row_number() OVER (PARTITION BY queue_name, key ORDER BY priority DESC, run_after, id) AS place
    FROM candidates
),
by_lot AS MATERIALIZED (
    SELECT
        *,
        GREATEST(0, places + place - share) / weight AS beyond,
        lot + sum(CASE WHEN place > 1 THEN -ln(1 - random()) / weight ELSE 0 END)
            OVER (PARTITION BY queue_name, key ORDER BY place) AS turn
    FROM of_tenant
),
in_key AS (
    SELECT *, row_number() OVER (PARTITION BY key, key_left IS NULL ORDER BY beyond, turn) AS place_of_key FROM by_lot
),
in_task AS (
    SELECT *, row_number() OVER (PARTITION BY task, task_left IS NULL ORDER BY beyond, turn) AS place_of_task
    FROM in_key
    WHERE key_left IS NULL OR place_of_key <= key_left
),
in_queue AS (
    SELECT *, row_number() OVER (PARTITION BY queue_name, queue_left IS NULL ORDER BY beyond, turn) AS place_of_queue
    FROM in_task
    WHERE task_left IS NULL OR place_of_task <= task_left
),
admitted AS (
    SELECT id
    FROM in_queue
    WHERE queue_left IS NULL OR place_of_queue <= queue_left
    ORDER BY beyond, turn
    LIMIT (SELECT places FROM wanted)
),
-- Nobody can start them, so they take no place; ready, they are parked.
strangers AS (
    SELECT unknown.id
    FROM served AS stranger
    CROSS JOIN LATERAL (
        SELECT each.id
        FROM {job} AS each
        WHERE each.status = 'WAITING' AND each.waiting_for = 'share' AND each.backend = %(backend)s
          AND each.queue_name = stranger.queue_name AND COALESCE(each.concurrency_key, '') = stranger.key
          AND each.task = stranger.task
        ORDER BY each.priority DESC, each.run_after, each.id
        LIMIT 1
    ) AS unknown
    WHERE NOT stranger.is_known
      AND NOT EXISTS ({known_elsewhere})
),
moved AS (
    UPDATE {job} AS job
    SET status = 'READY', waiting_for = ''
    WHERE job.id = ANY (ARRAY(
        SELECT waiting.id
        FROM {job} AS waiting
        -- As in admit_limited.sql: neither a join, nor an index of those that wait.
        WHERE waiting.id = ANY (ARRAY(SELECT id FROM admitted UNION ALL SELECT id FROM strangers))
          AND waiting.status || ' for ' || waiting.waiting_for = 'WAITING for share'
        FOR UPDATE SKIP LOCKED
    ))
    RETURNING job.queue_name
)
SELECT
    ARRAY(SELECT queue_name FROM moved),
    (SELECT ARRAY[%(backend)s::varchar, queue_name, task, key] FROM lanes WHERE place = %(lanes)s::int)
