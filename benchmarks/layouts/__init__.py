"""Measure the physical layout of the job table below its fixed public columns.

    python -m benchmarks.layouts                        # the first answers: every design at 30,000 ready jobs
    python -m benchmarks.layouts --scenario finished --design plain --design hot
    python -m benchmarks.layouts --scenario snapshot --snapshot-seconds 300 --design plain --design hot

In reading order: `tables` holds the DDL, `statements` the SQL that works on it, `designs` names each combination,
`client` drains, `scenarios` fills a table and measures a drain, `report` turns results into ratios, `cluster` owns the server.

Every scenario runs its designs in rounds, beside a raw baseline in the same round, because a busy machine changes
faster than a run lasts: only ratios within a round are compared. Durations are monotonic; SQL time is PostgreSQL's own.
Needs psycopg and PostgreSQL's server programs, or --dsn. No Django.
"""
