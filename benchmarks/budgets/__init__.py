"""How long the promises of time take to be kept: what dies, hangs, stops or is not heard of, thirty times each.

    python -m benchmarks.budgets [--samples 30] [--only NAME] [--out FILE]

Prints one table: the budget, how often it was measured, the median, the 99th percentile, the longest, and whether that
is within. Real workers in processes of their own, default options but for what a line names. Moments are those of
PostgreSQL's clock, in the rows that the queue itself writes and in marks that the tasks leave; how long a process
takes to exit only this program can measure.
"""
