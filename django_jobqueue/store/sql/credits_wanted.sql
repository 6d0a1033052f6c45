-- moves      nothing: says which kinds of depth limits there are
-- index      jobqueue_credit_unique_slot, the first entry of each
-- safe because  it reads, and a limit that comes a moment later is there at the next look
-- ORM        Credit.objects.values_list("kind").distinct()
SELECT kind
FROM unnest(ARRAY['queue', 'task', 'key']) AS kind
WHERE EXISTS (SELECT FROM {credit} AS slice WHERE slice.kind = kind.kind)
