-- moves      nothing by itself: chooses and locks the rows of a claim
-- index      jobqueue_job_ready, read in claim order and left at the limit
-- safe because  a row that is locked, or that the worker does not serve, is passed over. Where the worker serves little of what is
--            ready, it reads all the rest first: ready_by_group.sql is for that
-- ORM        see claim.sql
SELECT ready.id
FROM {job} AS ready
WHERE ready.status = 'READY'
  AND ready.rate_key IS NULL
  AND ready.backend = %(backend)s
  AND ready.task = ANY (%(tasks)s::varchar[])
  AND (
      ready.version = 1
      OR ready.version <= (%(versions)s::int[])[array_position(%(tasks)s::varchar[], ready.task)]
  )
  AND (%(served)s::text[] IS NULL OR ready.queue_name LIKE ANY (%(served)s::text[]))
  AND (%(excluded)s::text[] IS NULL OR NOT ready.queue_name LIKE ANY (%(excluded)s::text[]))
  AND (ready.expires_at IS NULL OR ready.expires_at > statement_timestamp())
  AND (ready.crash_count = 0 OR %(suspects)s)
  AND NOT ready.queue_name LIKE ANY (ARRAY(
      SELECT pattern FROM {pause} WHERE kind = 'queue' AND (until IS NULL OR until > statement_timestamp())
  ))
  AND NOT ready.task LIKE ANY (ARRAY(
      SELECT pattern FROM {pause} WHERE kind = 'task' AND (until IS NULL OR until > statement_timestamp())
  ))
  AND NOT ready.task = ANY (ARRAY(
      SELECT unnest(NULLIF(current_setting('django_jobqueue.held_tasks', true), '')::varchar[])
  ))
  AND COALESCE(current_setting('django_jobqueue.holds', true), '') <> 'true'
ORDER BY ready.priority DESC, ready.run_after, ready.id
LIMIT %(limit)s
FOR UPDATE SKIP LOCKED
