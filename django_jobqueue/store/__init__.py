"""The queue's memory: every change of a job's state, one module a verb.

This is the only room that writes or locks rows of the queue. What it promises:

- Every change of state is one guarded statement: it names the old state and, for a worker, the lease token. A
  statement that finds the world changed changes nothing and says so; that is an answer, not an error.
- PostgreSQL is the only wall clock. Callers hand in seconds; `statement_timestamp()` is added here. It moves inside a
  transaction, so a lease taken late in a long one does not begin in the past, and unlike `clock_timestamp()` an
  index may use it.
- Rows are locked with SKIP LOCKED, or in the order of their ids, so that two verbs never wait for each other in a
  circle.
- It takes numbers, not settings, and asks no one's configuration.

A producer's and a person's verbs run on Django's connection, in the caller's transaction:

    enqueue     → WAITING or READY               replay    FAILED → READY
                (bounded: if depth limits leave room)
    cancel      WAITING or READY → CANCELLED,    discard   the letter OPEN → DISCARDED
                a request where it is RUNNING    pause, resume  no job; what claims may take

or, where the caller's rows are in another database, after that transaction (`reserved`).

A worker's verbs are `Statement`s; a `Session` carries any number of them to the server in one transaction and one
round trip:

    promote     WAITING → READY, when due        settle    RUNNING → what a Decision says
    claim       READY → RUNNING, new token       rescue    RUNNING, lease run out → the rescuer's token
    renew       move lease_expires_at            give_back RUNNING, never started → READY, or CANCELLED
    recover     RUNNING, claimed without hearing of it → a new token of the worker's own

`depth` knows what room a depth limit leaves: credits, which an enqueue takes, a claim gives back and a worker's
`recount` sets right.

`hold` goes before the claims of a transaction: they share a gate, and whoever pauses or resumes shuts it (`control`).
`finish_here` is settle's success in an atomic task's own transaction. `announce_worker` and `park` are for
people: who is alive, and what nobody here can run.

What is hard here: plans. A queue that has just been filled has no statistics, and a claim planned for an empty
table reads every ready row. `session.PLAN_GUARD` takes the bad plans away, for the length of a transaction.
"""
