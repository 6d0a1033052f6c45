-- moves      nothing by itself: says whether a living worker of the backend knows the task of `stranger`, in its version
-- index      none: there are few workers, and few rows that are asked about
-- safe because  who was heard of a while ago counts as living: rather a job waits longer than that it goes to and fro
-- ORM        Worker.objects.filter(stopped_at=None, last_seen_at__gt=…), and a look at each one's tasks
SELECT 1
FROM {worker} AS worker
WHERE worker.backend = %(backend)s
  AND worker.stopped_at IS NULL
  AND worker.last_seen_at > statement_timestamp() - make_interval(secs => %(alive_seconds)s)
  AND (worker.tasks ->> stranger.task)::int >= stranger.version
