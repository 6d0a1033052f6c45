"""How fast the product is, beside what PostgreSQL itself allows on the same machine in the same run.

    python -m benchmarks.throughput [--jobs 30000] [--rounds 3]

Rounds take turns between the raw baseline and the product, so that a machine that is busy with something else slows
both; only ratios mean anything. Real workers in processes of their own; attempts recorded, fences on, fsync on,
logging at WARNING.
"""
