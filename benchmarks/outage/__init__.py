"""What an outage of a provider costs, with a circuit breaker and without: the same minute twice.

    python -m benchmarks.outage [--seconds 60] [--per-second 5] [--out FILE]

A server of its own is the provider: it answers after 50 ms, refuses connections for the outage, and answers again. Jobs
that ask it arrive all the time, at an even pace. Default options, one real worker of eight threads. Counted in the
queue's own rows: attempts that failed, jobs that became dead letters, and how long after the provider's return all jobs
from before it had ended well. Counted by the provider: how many calls began in its busiest second after that.
"""
