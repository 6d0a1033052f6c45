-- moves      nothing by itself: which rows of a lane, that is of one queue, task and key, a claim may take
-- index      jobqueue_job_rated, in claim order within the lane
-- safe because  it reads, and says what ready_in_order.sql says of plain jobs
-- ORM        none
ready.status = 'READY' AND ready.rate_key IS NOT NULL
AND ready.backend = %(backend)s
AND ready.queue_name = lane.queue_name AND ready.task = lane.task AND ready.rate_key = lane.rate_key
AND (
    ready.version = 1
    OR ready.version <= (%(versions)s::int[])[array_position(%(tasks)s::varchar[], ready.task)]
)
AND (ready.expires_at IS NULL OR ready.expires_at > statement_timestamp())
AND (ready.crash_count = 0 OR %(suspects)s)
