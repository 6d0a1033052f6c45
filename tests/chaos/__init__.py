"""Chaos: real workers, a real PostgreSQL of their own, and one fault again and again under load.

    python -m tests.chaos                          the short run, under five minutes
    python -m tests.chaos --full --out FILE        at least thirty injections of each fault; FILE gets the table
    python -m tests.chaos -k postmaster --seed 7   one fault, with the seed of an earlier run

Each file is one fault. A run starts two workers and a producer, lets a seeded nemesis inject the fault while jobs
flow, heals, waits until everything has come to its end, and asks the checker, which reads only the database and the
ledgers that tasks and producer keep outside of it. It prints one line.

Reading order in `harness`: `server`, `proxy`, `ledger`, `load`, `workers` (the parts), `drill` (one run of them),
`nemesis` (its seeded loop), `checker` (the invariants), `recovery` (how long it took), `report` (the line).
`mutants` breaks the product on purpose: a check that cannot turn red proves nothing.

Left out of the ordinary run of the suite by the marker `chaos`.
"""
