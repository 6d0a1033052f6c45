-- moves      nothing by itself: the buckets that jobs of one lane take a token of, up to three, as they are at this moment
-- index      jobqueue_bucket_unique_target and jobqueue_limit_unique_target, a probe of each for a bucket
-- safe because  it reads, and who writes has the lock of rate_lock.sql. All of it is whole microseconds and whole tokens: nothing is
--            rounded up. What has grown of the next token is kept, as `since`. A clock that steps back adds nothing: by less
--            than a second it is waited for, by more the next token grows from now on (`is_ahead`)
-- ORM        none
SELECT
    declared.kind, declared.target, by_hand.rate AS set_rate, rate.pace, rate.burst, grown.is_ahead,
    CASE WHEN grown.tokens < rate.burst THEN grown.tokens ELSE rate.burst END AS tokens,
    -- A full bucket gains nothing, so its next token grows from the moment that it is spent from.
    CASE WHEN grown.tokens < rate.burst THEN grown.since ELSE GREATEST(grown.since, statement_timestamp()) END AS since
FROM (
    VALUES
        (
            'queue', lane.queue_name,
            (%(queue_paces)s::bigint[])[array_position(%(rated_queues)s::varchar[], lane.queue_name)],
            (%(queue_bursts)s::bigint[])[array_position(%(rated_queues)s::varchar[], lane.queue_name)]
        ),
        (
            'task', COALESCE((%(task_targets)s::varchar[])[array_position(%(rated_tasks)s::varchar[], lane.task)], lane.task),
            (%(task_paces)s::bigint[])[array_position(%(rated_tasks)s::varchar[], lane.task)],
            (%(task_bursts)s::bigint[])[array_position(%(rated_tasks)s::varchar[], lane.task)]
        ),
        (
            'key', NULLIF(lane.rate_key, ''),
            (%(key_paces)s::bigint[])[array_position(%(rated_tasks)s::varchar[], lane.task)],
            (%(key_bursts)s::bigint[])[array_position(%(rated_tasks)s::varchar[], lane.task)]
        )
) AS declared (kind, target, pace, burst)
-- What a person has set stands for what the code declares. LIMIT 1 keeps it a probe: of a table without statistics the
-- planner would rather read every row once, and compare each with each.
LEFT JOIN LATERAL (
    SELECT rate, rate_pace_microseconds, rate_burst
    FROM {limit}
    WHERE kind = declared.kind AND target = declared.target AND rate_burst IS NOT NULL
    LIMIT 1
) AS by_hand ON true
LEFT JOIN LATERAL (
    SELECT tokens, refilled_at
    FROM {rate_bucket}
    WHERE backend = %(backend)s AND kind = declared.kind AND target = declared.target
    LIMIT 1
) AS bucket ON true
CROSS JOIN LATERAL (
    SELECT
        COALESCE(by_hand.rate_pace_microseconds, declared.pace) AS pace,
        COALESCE(by_hand.rate_burst, declared.burst) AS burst,
        COALESCE(bucket.refilled_at > statement_timestamp() + interval '1 second', false) AS is_ahead
) AS rate
CROSS JOIN LATERAL (
    SELECT
        CASE WHEN rate.is_ahead THEN statement_timestamp() ELSE bucket.refilled_at END AS refilled_at,
        CASE
            WHEN bucket.refilled_at < statement_timestamp()
            THEN (extract(epoch FROM statement_timestamp() - bucket.refilled_at) * 1000000)::bigint / rate.pace
            ELSE 0
        END AS gained
) AS gain
CROSS JOIN LATERAL (
    SELECT
        rate.is_ahead,
        bucket.tokens + gain.gained AS tokens,
        gain.refilled_at + gain.gained * rate.pace * interval '1 microsecond' AS since
) AS grown
WHERE declared.target IS NOT NULL AND rate.burst IS NOT NULL
