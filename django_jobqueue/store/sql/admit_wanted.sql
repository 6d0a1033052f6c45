-- moves      nothing: says whether any job waits for its turn, a slot or a place
-- index      jobqueue_job_limit, jobqueue_job_share and jobqueue_job_order, the first entry of each
-- safe because  it reads, and a job that comes a moment later is there at the next look
-- ORM        Job.objects.filter(status="WAITING", waiting_for__in=["limit", "share", "order"]).exists()
SELECT
    EXISTS (SELECT FROM {job} WHERE status = 'WAITING' AND waiting_for = 'limit')
    OR EXISTS (SELECT FROM {job} WHERE status = 'WAITING' AND waiting_for = 'share')
    OR EXISTS (SELECT FROM {job} WHERE status = 'WAITING' AND waiting_for = 'order')
