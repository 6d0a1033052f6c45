-- moves      nothing: finds the attempts that this worker has closed in a transaction whose reply it has not heard
-- index      jobqueue_attempt_number, and the primary key for the jobs
-- safe because  it only reads. A rescuer closes the attempt in this worker's name too, but as lost, and in words of its own
SELECT
    job.id,
    CASE WHEN job.attempt_count = mine.number THEN job.status ELSE '' END,
    job.failure_count,
    job.max_attempts
FROM unnest(
    %(ids)s::bigint[], %(numbers)s::integer[], %(outcomes)s::varchar[], %(exception_classes)s::varchar[], %(messages)s::text[]
) AS mine (id, number, outcome, exception_class, message)
JOIN {attempt} AS attempt ON attempt.job_id = mine.id AND attempt.number = mine.number
JOIN {job} AS job ON job.id = mine.id
WHERE attempt.worker_id = %(worker_id)s::uuid
  AND attempt.outcome = mine.outcome
  AND attempt.exception_class = mine.exception_class
  AND attempt.message = mine.message
