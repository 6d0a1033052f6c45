-- moves      nothing by itself: status and waiting_for of a job that comes into being
-- index      none
-- safe because  the only clock is PostgreSQL's; a job that needs its turn, or a slot, is never READY before it has them
-- ORM        two Case(When(…), …)
CASE
    WHEN new.run_after > statement_timestamp() OR COALESCE(new.share_weight, new.key_limit, new.task_limit, new.queue_limit) IS NOT NULL
        OR new.order_key IS NOT NULL
    THEN 'WAITING' ELSE 'READY'
END,
CASE
    WHEN new.order_key IS NOT NULL THEN 'order'
    WHEN new.run_after > statement_timestamp() THEN 'time'
    WHEN new.share_weight IS NOT NULL THEN 'share'
    WHEN COALESCE(new.key_limit, new.task_limit, new.queue_limit) IS NOT NULL THEN 'limit'
    ELSE ''
END
