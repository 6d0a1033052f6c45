-- moves      nothing → READY, or WAITING for time, under ids that were reserved before; not where a live job holds the key
-- index      inserts into those that enqueue.sql and enqueue_unique.sql name
-- safe because  ON CONFLICT locks no row that is there and waits for one that is not committed yet; whoever was not inserted
--            is either there under its own id, as a call whose answer was lost leaves it, or has a twin; keys come in
--            the order of enqueue_unique.sql
-- ORM        Job.objects.bulk_create(…, ignore_conflicts=True), which does not tell who was inserted
INSERT INTO {job} (
    id, backend, task, version, args, kwargs, queue_name, priority, run_after, status, waiting_for,
    max_attempts, enqueued_at, metadata, unique_key, unique_until_started,
    concurrency_key, key_limit, task_limit, queue_limit, order_key, order_blocks,
    share_weight,
    rate_key,
    queue_credit, task_credit, key_credit
)
SELECT
    new.id, new.backend, new.task, new.version, new.args, new.kwargs, new.queue_name, new.priority,
    GREATEST(new.run_after, statement_timestamp()),
    {inner},
    new.max_attempts, statement_timestamp(), new.metadata, NULLIF(new.unique_key, ''), new.unique_until_started,
    new.concurrency_key, new.key_limit, new.task_limit, new.queue_limit, new.order_key, COALESCE(new.order_blocks, false),
    new.share_weight,
    new.rate_key,
    new.queue_credit, new.task_credit, new.key_credit
FROM unnest(
    %(ids)s::bigint[], %(backends)s::varchar[], %(tasks)s::varchar[], %(versions)s::int[], %(args)s::jsonb[],
    %(kwargs)s::jsonb[], %(queue_names)s::varchar[], %(priorities)s::smallint[], %(run_afters)s::timestamptz[],
    %(max_attempts)s::int[], %(metadata)s::jsonb[], %(unique_keys)s::varchar[], %(unique_until_started)s::boolean[],
    %(concurrency_keys)s::varchar[], %(key_limits)s::int[], %(task_limits)s::int[], %(queue_limits)s::int[],
    %(order_keys)s::varchar[], %(order_blocks)s::boolean[],
    %(share_weights)s::int[],
    %(rate_keys)s::varchar[],
    %(queue_credits)s::smallint[], %(task_credits)s::smallint[], %(key_credits)s::smallint[]
) WITH ORDINALITY AS new (
    id, backend, task, version, args, kwargs, queue_name, priority, run_after, max_attempts, metadata, unique_key,
    unique_until_started,
    concurrency_key, key_limit, task_limit, queue_limit, order_key, order_blocks,
    share_weight,
    rate_key,
    queue_credit, task_credit, key_credit, position
)
ORDER BY new.position
ON CONFLICT DO NOTHING
RETURNING id, status, enqueued_at
