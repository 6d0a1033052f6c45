-- moves      no job: gives credits to due jobs that have none, and sets slices that nobody has locked to what is left, in equal parts,
--            where credits were lost, jobs have none, or the limit has changed
-- index      jobqueue_credit_unique_slot; for the jobs that of under_depth_of_….sql
-- safe because  jobs and slices are counted in one snapshot, in which who takes, claims or gives back has done both halves or neither.
--            Only slices are set that are the same under the lock as in it (writes): nothing has come or gone through them since.
--            What others have locked, and what is not written yet, counts as it is in the snapshot, or as full. One counts at a time,
--            or two would give out the same lost credit: who counts has slice 0, the same as in the snapshot, and writes it. Of
--            the others only every second one is locked, so that who enqueues meanwhile finds a free one
-- ORM        none: it locks, counts and writes in one snapshot
WITH RECURSIVE targets AS (
    (
        SELECT slice.target, 1 AS place
        FROM {credit} AS slice
        WHERE slice.kind = %(kind)s AND slice.backend = %(backend)s
          AND slice.target >= COALESCE(%(target)s::varchar, %(from_target)s::varchar)
        ORDER BY slice.target
        LIMIT 1
    )
    UNION ALL
    SELECT next.target, targets.place + 1
    FROM targets
    CROSS JOIN LATERAL (
        SELECT slice.target
        FROM {credit} AS slice
        WHERE slice.kind = %(kind)s AND slice.backend = %(backend)s AND slice.target > targets.target
        ORDER BY slice.target
        LIMIT 1
    ) AS next
    -- One more than are counted: from there it goes on the next time.
    WHERE targets.place <= %(scopes)s AND %(target)s::varchar IS NULL
),
scopes AS MATERIALIZED (
    SELECT targets.target, slices.amount, slices.others, slices.max_depth, LEAST(%(slices)s, slices.max_depth) AS slots
    FROM targets
    CROSS JOIN LATERAL (
        SELECT
            sum(slice.amount) AS amount,
            count(DISTINCT slice.max_depth) > 1 OR min(slice.max_depth) <> %(max_depth)s::int AS others,
            COALESCE(%(max_depth)s::int, mode() WITHIN GROUP (ORDER BY slice.max_depth)) AS max_depth
        FROM {credit} AS slice
        WHERE slice.kind = %(kind)s AND slice.backend = %(backend)s AND slice.target = targets.target
    ) AS slices
    WHERE targets.place <= %(scopes)s AND (%(target)s::varchar IS NULL OR targets.target = %(target)s::varchar)
),
counted AS MATERIALIZED (
    SELECT scopes.*, scopes.max_depth - held.number - unwritten.amount AS room
    FROM scopes
    CROSS JOIN LATERAL (
        SELECT count(*) AS number
        FROM ({inner}) AS job
        WHERE job.backend = %(backend)s AND job.target = scopes.target AND job.credit = 1
    ) AS held
    CROSS JOIN LATERAL (
        SELECT COALESCE(sum(scopes.max_depth / scopes.slots + (slot < scopes.max_depth %% scopes.slots)::int), 0) AS amount
        FROM generate_series(0, scopes.slots - 1) AS slot
        WHERE NOT EXISTS (
            SELECT
            FROM {credit} AS slice
            WHERE slice.kind = %(kind)s AND slice.backend = %(backend)s AND slice.target = scopes.target AND slice.slot = slot.slot
        )
    ) AS unwritten
),
needy AS MATERIALIZED (
    SELECT counted.*
    FROM counted
    WHERE counted.room <> counted.amount
       OR COALESCE(counted.others, false)
       OR counted.amount > 0 AND EXISTS (
           SELECT
           FROM ({inner}) AS job
           WHERE job.backend = %(backend)s AND job.target = counted.target
             AND job.credit IN (0, -1) AND job.run_after <= statement_timestamp() + make_interval(secs => %(ahead_seconds)s)
       )
),
mine AS MATERIALIZED (
    SELECT needy.target, locked.id, locked.slot, locked.amount
    FROM needy
    CROSS JOIN LATERAL (
        SELECT slice.id, slice.slot, slice.amount, slice.writes
        FROM {credit} AS slice
        WHERE slice.kind = %(kind)s AND slice.backend = %(backend)s AND slice.target = needy.target
          AND (%(parity)s::int IS NULL OR slice.slot = 0 OR slice.slot %% 2 = %(parity)s::int)
        FOR UPDATE SKIP LOCKED
    ) AS locked
    CROSS JOIN LATERAL (SELECT writes FROM {credit} AS slice WHERE slice.id = locked.id) AS seen
    WHERE seen.writes = locked.writes
),
for_mine AS MATERIALIZED (
    -- Below zero only where the limit is lower than it was: then nothing is left, and the next count finds more.
    SELECT needy.target, needy.max_depth, GREATEST(0, needy.room - needy.amount + owned.amount) AS room
    FROM needy
    CROSS JOIN LATERAL (SELECT sum(mine.amount) AS amount FROM mine WHERE mine.target = needy.target) AS owned
    WHERE EXISTS (SELECT FROM mine WHERE mine.target = needy.target AND mine.slot = 0)
),
owing AS MATERIALIZED (
    SELECT for_mine.target, due.id
    FROM for_mine
    CROSS JOIN LATERAL (
        SELECT job.id
        FROM ({inner}) AS job
        WHERE job.backend = %(backend)s AND job.target = for_mine.target
          AND job.credit IN (0, -1) AND job.run_after <= statement_timestamp() + make_interval(secs => %(ahead_seconds)s)
        LIMIT LEAST(for_mine.room, %(limit)s)
        FOR UPDATE OF job SKIP LOCKED
    ) AS due
),
paid AS (
    UPDATE {job} AS job
    SET queue_credit = CASE WHEN %(kind)s = 'queue' THEN 1 ELSE job.queue_credit END,
        task_credit = CASE WHEN %(kind)s = 'task' THEN 1 ELSE job.task_credit END,
        key_credit = CASE WHEN %(kind)s = 'key' THEN 1 ELSE job.key_credit END
    WHERE job.id = ANY (ARRAY(SELECT id FROM owing))
),
parts AS (
    SELECT
        mine.id, for_mine.max_depth,
        for_mine.room - (SELECT count(*) FROM owing WHERE owing.target = for_mine.target) AS room,
        row_number() OVER (PARTITION BY mine.target ORDER BY mine.id) AS place,
        count(*) OVER (PARTITION BY mine.target) AS number
    FROM mine
    JOIN for_mine ON for_mine.target = mine.target
),
set_anew AS (
    UPDATE {credit} AS slice
    SET amount = parts.room * parts.place / parts.number - parts.room * (parts.place - 1) / parts.number,
        max_depth = parts.max_depth,
        writes = slice.writes + 1
    FROM parts
    WHERE slice.id = parts.id
    RETURNING slice.id
)
SELECT
    (SELECT count(*) FROM set_anew),
    (SELECT count(*) FROM owing),
    (SELECT target FROM targets WHERE place > %(scopes)s)
