"""Chaos: real workers, a real PostgreSQL of their own, and one fault again and again under load.

    python -m tests.chaos                          the short run: a few minutes
    python -m tests.chaos --full --out FILE        at least thirty injections of each fault; FILE gets the table
    python -m tests.chaos -k postmaster --seed 7   one fault, with the seed of an earlier run
    python -m tests.chaos --full --minutes 30 --shards 1 tests/chaos/test_everything.py
                                                   all faults in random order, for half an hour

Each file is one fault. A run starts two workers and a producer, lets a seeded nemesis inject the fault while jobs
flow, heals, waits until everything has come to its end, and asks the checker, which reads only the database and the
ledgers that tasks, producer and person keep outside of it. It prints one line:

    bites         how often the faults were seen to do what they are for: calls refused, sessions ended, bytes held up,
                  processes gone; a fault that nobody felt is a breach, and so is a run of next to no jobs
    accepted,     calls of the producer whose transaction has committed, that left nothing, and of which it does not
    rejected,     know
    unsure
    lost          accepted jobs that are gone, or have not come to an end
    unexplained   runs that no attempt accounts for
    burnt         attempts that were charged though their task did nothing wrong; a fault that kills or freezes
                  workers may cost some, one of the database or the network none
    stale         outcomes that came too late and were refused by their token
    p50, p99,     seconds from the end of a fault to the fact that it is over: what ran in a killed process is closed,
    max           a worker has left after SIGTERM, a job that hangs is closed, or every worker has claimed again; of one
                  that the next fault came before, it counts how long it took until then
    budget        seconds that the design allows for it, where it does; only a multiple is asserted (`harness.budgets`)
    within        how many of the recoveries kept the budget, of how many
    backlog,      jobs that had not ended at the last fault, the seconds until the last of them had, and how many that
    drained, of   may take: twice the time that the same workers need for them by the pace of a sample to which nothing
                  is done, and no less than the longest of them runs, and as long as a lost worker's jobs may take to be
                  taken over (full runs only)
    breaches      whatever else is wrong: rules of the checker, a worker that left or is deaf, a flooded log, a recovery
                  that took far too long

Reading order in `harness`: `server`, `proxy`, `ledger`, `load`, `person`, `workers` (the parts), `nemesis` (the
seeded loop), `drill` (one run of them all), `evidence`, `rules`, `checker` (the invariants), `complaints` (what the
rows do not say), `recovery`, `drain` (how long it took), `overlap` (how many at once), `report` (the line). `mutants`
breaks the product on purpose: a check that cannot turn red proves nothing.

A seed fixes what the producer enqueues and what the nemesis picks, and when; not what the machine makes of it.

Left out of the ordinary run of the suite by the marker `chaos`.
"""
