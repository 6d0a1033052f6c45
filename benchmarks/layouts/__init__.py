"""Measure the physical layout of the job table below its fixed public columns.

    python -m benchmarks.layouts                        # the first answers: every design at 30,000 ready jobs
    python -m benchmarks.layouts --scenario finished --design plain --design hot
    python -m benchmarks.layouts --scenario snapshot --snapshot-seconds 300 --design plain --design hot

In reading order: `tables` holds the DDL, `statements` the SQL that works on it, `designs` names each combination,
`client` drains, `lanes` keeps the stop-watch of each design, `scenarios` fills and runs them side by side, `report`
turns results into ratios, `cluster` owns the server.

A busy machine changes faster than a run lasts. So a few designs at a time, each in a schema of its own, take turns of
some 100 ms beside a raw baseline and the plain design, and only ratios within such a group are compared.
Needs psycopg and PostgreSQL's server programs, or --dsn. No Django.
"""
