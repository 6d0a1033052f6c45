-- moves      nothing: what is left in the buckets of one job, and in how many seconds the next token comes where nothing is
-- index      those of rate_buckets.sql
-- safe because  it reads
-- ORM        none
SELECT
    kind, target, set_rate,
    CASE WHEN tokens < 1 THEN extract(epoch FROM since - statement_timestamp()) + pace / 1000000.0 ELSE 0 END::float8
FROM (VALUES (%(queue_name)s::varchar, %(task)s::varchar, %(rate_key)s::varchar)) AS lane (queue_name, task, rate_key)
CROSS JOIN LATERAL ({rate_buckets}) AS bucket
