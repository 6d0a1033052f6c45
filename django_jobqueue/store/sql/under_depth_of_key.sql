-- moves      nothing by itself: the jobs that may count in the depth of a key, each with its credit
-- index      jobqueue_job_key_depth
-- safe because  it only reads
-- ORM        Job.objects.filter(key_credit__isnull=False, status__in=["WAITING", "READY"])
SELECT id, backend, concurrency_key AS target, key_credit AS credit, run_after
FROM {job}
WHERE key_credit IS NOT NULL AND status IN ('WAITING', 'READY')
