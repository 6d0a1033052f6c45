-- moves      nothing: buckets that have long been full, which is what no row means too, are deleted
-- index      jobqueue_bucket_unique_target, all of it: to know by an index when each is full would cost every start another entry
-- safe because  only who has the lock of rate_lock.sql writes buckets, and without it this finds none. A minute lies between, so that
--            a clock that is set back a little finds no bucket full that is not
-- ORM        RateBucket.objects.filter(pk__in=RateBucket.objects.filter(full_at__lt=…)[:n]).delete()
DELETE FROM {rate_bucket}
WHERE id = ANY (ARRAY(
    SELECT id
    FROM {rate_bucket}
    WHERE full_at < statement_timestamp() - interval '1 minute'
      AND current_setting('django_jobqueue.spends', true) = 'true'
    LIMIT %(limit)s
))
RETURNING id
