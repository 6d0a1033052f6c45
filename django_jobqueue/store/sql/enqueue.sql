-- moves      nothing → READY, or WAITING for time when run_after lies ahead, for its turn or for a slot where it needs one
-- index      inserts into the primary key and, by status, into jobqueue_job_ready and jobqueue_job_group, or jobqueue_job_due
-- safe because  it is one INSERT in the caller's transaction: it commits or vanishes with the caller's own data.
--            statement_timestamp() is the only clock, so a producer whose clock is wrong still enqueues for now,
--            and a run_after in the past, which GREATEST overrules, jumps no queue
-- ORM        Job.objects.bulk_create(…), ten times slower: it builds a model a row and asks for every column back
INSERT INTO {job} (
    backend, task, version, args, kwargs, queue_name, priority, run_after, status, waiting_for,
    max_attempts, enqueued_at, metadata,
    concurrency_key, key_limit, task_limit, queue_limit, order_key, order_blocks,
    share_weight,
    rate_key,
    queue_credit, task_credit, key_credit
)
SELECT
    new.backend, new.task, new.version, new.args, new.kwargs, new.queue_name, new.priority,
    GREATEST(new.run_after, statement_timestamp()),
    {inner},
    new.max_attempts, statement_timestamp(), new.metadata,
    new.concurrency_key, new.key_limit, new.task_limit, new.queue_limit, new.order_key, COALESCE(new.order_blocks, false),
    new.share_weight,
    new.rate_key,
    new.queue_credit, new.task_credit, new.key_credit
FROM unnest(
    %(backends)s::varchar[], %(tasks)s::varchar[], %(versions)s::int[], %(args)s::jsonb[], %(kwargs)s::jsonb[],
    %(queue_names)s::varchar[], %(priorities)s::smallint[], %(run_afters)s::timestamptz[], %(max_attempts)s::int[],
    %(metadata)s::jsonb[],
    %(concurrency_keys)s::varchar[], %(key_limits)s::int[], %(task_limits)s::int[], %(queue_limits)s::int[],
    %(order_keys)s::varchar[], %(order_blocks)s::boolean[],
    %(share_weights)s::int[],
    %(rate_keys)s::varchar[],
    %(queue_credits)s::smallint[], %(task_credits)s::smallint[], %(key_credits)s::smallint[]
) WITH ORDINALITY AS new (
    backend, task, version, args, kwargs, queue_name, priority, run_after, max_attempts, metadata,
    concurrency_key, key_limit, task_limit, queue_limit, order_key, order_blocks,
    share_weight,
    rate_key,
    queue_credit, task_credit, key_credit, position
)
ORDER BY new.position
RETURNING id, status, enqueued_at
