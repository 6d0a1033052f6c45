-- moves      nothing by itself: the jobs that may count in the depth of a queue, each with its credit
-- index      jobqueue_job_queue_depth
-- safe because  it only reads
-- ORM        Job.objects.filter(queue_credit__isnull=False, status__in=["WAITING", "READY"])
SELECT id, backend, queue_name AS target, queue_credit AS credit, run_after
FROM {job}
WHERE queue_credit IS NOT NULL AND status IN ('WAITING', 'READY')
