-- moves      nothing by itself: counts the slots that are taken, of each key, task and queue, and has beside them what a person has set
-- index      jobqueue_job_slots, from end to end: every job that has a slot, and no other
-- safe because  it reads in the snapshot of its statement. Each count is looked up in a map, one value: to join lists, without hash and
--            merge joins, is to walk through one for each entry of the other. A backend has its length before it, so that no two
--            names run into one
-- ORM        three values() and annotate(Count)
WITH slots AS MATERIALIZED (
    SELECT
        length(backend) || ':' || backend AS backend, queue_name, task, COALESCE(concurrency_key, '') AS key,
        count(*) FILTER (WHERE key_limit IS NOT NULL) AS of_key,
        count(*) FILTER (WHERE task_limit IS NOT NULL) AS of_task,
        count(*) FILTER (WHERE queue_limit IS NOT NULL) AS of_queue
    FROM {job}
    WHERE (key_limit IS NOT NULL OR task_limit IS NOT NULL OR queue_limit IS NOT NULL) AND status IN ('READY', 'RUNNING')
    GROUP BY 1, 2, 3, 4
)
SELECT
    (
        SELECT COALESCE(jsonb_object_agg(each.name, each.slots), '{}')
        FROM (SELECT backend || key AS name, sum(of_key) AS slots FROM slots WHERE of_key > 0 GROUP BY 1) AS each
    ) AS of_key,
    (
        SELECT COALESCE(jsonb_object_agg(each.name, each.slots), '{}')
        FROM (SELECT backend || task AS name, sum(of_task) AS slots FROM slots WHERE of_task > 0 GROUP BY 1) AS each
    ) AS of_task,
    (
        SELECT COALESCE(jsonb_object_agg(each.name, each.slots), '{}')
        FROM (SELECT backend || queue_name AS name, sum(of_queue) AS slots FROM slots WHERE of_queue > 0 GROUP BY 1) AS each
    ) AS of_queue,
    (SELECT COALESCE(jsonb_object_agg(kind || ' ' || target, at_once), '{}') FROM {limit}) AS set_by_hand
