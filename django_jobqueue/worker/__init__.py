"""Workers: the room that acts.

`manage.py runworker` is a keeper with runners. The keeper is the only process that talks to the queue: it claims,
renews, settles, rescues and promotes, for all its runners together. A runner runs tasks and knows no queue. So a
task may hold the GIL, block, eat memory or crash: its lease is renewed, its time limit kept and its death seen by a
process that it cannot touch.

Reading order:

- `frames`      how the two speak: length-prefixed JSON on a socket pair, never pickle
- `wire`        outcomes in words, for a frame
- `executor`    one attempt in a runner: the only place that calls a task
- `arguments`   what the task is called with, secrets at last
- `verdict`     what an exception of a task means
- `discretion`  the words of a failure without the secrets of its attempt
- `atomic`      a job and the record of its success in one transaction
- `slate`       what is wiped before and after each attempt; `shared_slate` for coroutines, who have one together
- `runner`      a child process: a reader, T threads for functions, one event loop for coroutines
- `process`     what it is as a process: how it prints, and what dies with whom
- `descriptors` whether its jobs have left it any
- `forkserver`  a child that has imported everything once, and forks runners
- `launcher`    the keeper's end of that, and the spawn way for where forking is unsafe
- `deaths`      those of runners, as the keeper sees them for itself
- `clock`       the one that durations are measured on
- `plan`        what a worker is told once
- `flight`      an attempt in the keeper's hands
- `child`       a runner as the keeper has it: the line to it, what it holds, how it is ended
- `fleet`       the keeper's picture of all of them: what may be claimed, and who gets which job
- `quarantine`  whether suspects are asked for, which run alone
- `nursery`     one launcher at a time, and another when it dies
- `restarts`    when a runner that ended is started again
- `recycling`   when a runner has done enough
- `fate`        what a runner's death means for what it had begun; `oom` whether memory was the cause of it
- `service`     the runner in which receivers are told of a job's end; `receivers` does it there
- `patrol`      which of them must be killed, and what must come back from it
- `crew`        the runners' processes: started, listened to, buried, replaced
- `pace`        how long tasks take, so that short ones may be claimed a little ahead
- `demand`      what is claimed next
- `intake`      a claimed row becomes a flight, with a ticket
- `link`        the thread that makes database calls, one at a time, each under a deadline
- `ledger`      what waits to be written, and how a batch that is refused is taken apart
- `judge`       the end of an attempt becomes a settlement
- `journal`     a line in the log for each end that was written; `news` what it is told of the line to the database
- `calls`       the transactions that a keeper makes
- `census`      when what lies under depth limits is counted
- `schedule`    when it polls, rescues and renews; `outage` when it tries again, `truce` when it rescues after one
- `agenda`      which call to the database comes next; `exchange` makes it, and understands the reply
- `wakeup`      the one place where the keeper waits, and what wakes it, signals among it; `listener` hears NOTIFY
- `scribe`      writes the log, so that the keeper need not wait for who reads it
- `keeper`      the loop

Clocks: a lease, a due time and an age are PostgreSQL's. Here, durations only: CLOCK_BOOTTIME, which runs on while a
machine sleeps.

What is hard here: the keeper must never block, on a runner that is stopped with half a frame in its pipe no more
than on a database that acknowledges and never answers; and what it believes of a lease must be earlier than what
PostgreSQL believes, so a lease is counted from before the request for it was sent.
"""
