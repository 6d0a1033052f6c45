-- moves      nothing by itself: the jobs that may count in the depth of a task, each with its credit
-- index      jobqueue_job_task_depth
-- safe because  it only reads
-- ORM        Job.objects.filter(task_credit__isnull=False, status__in=["WAITING", "READY"])
SELECT id, backend, task AS target, task_credit AS credit, run_after
FROM {job}
WHERE task_credit IS NOT NULL AND status IN ('WAITING', 'READY')
