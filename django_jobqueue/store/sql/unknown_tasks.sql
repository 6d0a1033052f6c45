-- moves      nothing: names the tasks at the head of the queue that this worker serves and does not know
-- index      jobqueue_job_ready, its first rows: what every claim passes over stays at the head
-- safe because  it only reads, and no more than the limit: queues are told apart afterwards, or a backlog in those of others
--            would be read to its end
-- ORM        Job.objects.filter(status="READY", …)[:limit], and a set in Python: two hundred rows for a name or two
SELECT DISTINCT CASE WHEN head.task = ANY (%(tasks)s::varchar[]) THEN head.task || ' v' || head.version ELSE head.task END
FROM (
    SELECT ready.task, ready.version, ready.queue_name, ready.run_after
    FROM {job} AS ready
    WHERE ready.status = 'READY' AND ready.backend = %(backend)s
    ORDER BY ready.priority DESC, ready.run_after, ready.id
    LIMIT %(limit)s
) AS head
WHERE head.version > COALESCE((%(versions)s::int[])[array_position(%(tasks)s::varchar[], head.task)], 0)
  AND (%(served)s::text[] IS NULL OR head.queue_name LIKE ANY (%(served)s::text[]))
  AND (%(excluded)s::text[] IS NULL OR NOT head.queue_name LIKE ANY (%(excluded)s::text[]))
  AND head.run_after < statement_timestamp() - make_interval(secs => %(older_than_seconds)s)
