"""What the queue remembers: columns, constraints and indexes, each with its reason.

Nothing here changes a row. Every change of state is a verb of `store`; `save()` and `update()` on these models
exist because Django gives them to every model, not because the queue uses them. `models` reads; `store` writes.

- `Job`         one request to run a task
- `Attempt`     one try of a job by one worker
- `CircuitBreaker` how a dependency of tasks fares, and whether their jobs are claimed
- `DeadLetter`  a failed job that waits for a person
- `AuditEntry`  who did what to which row, and why
- `Credit`      room under a depth limit, in slices
- `Effect`      what was done under a key, so that it is not done twice
- `Limit`       how many jobs may run at once, or start in a time, as a person has set it
- `Pause`       queues and tasks that no worker claims for now
- `RateBucket`  the tokens that are left of a rate
- `Worker`      a keeper with its runners, as last heard of
"""

from django_jobqueue.models.attempt import Attempt
from django_jobqueue.models.audit_entry import AuditEntry
from django_jobqueue.models.circuit_breaker import CircuitBreaker
from django_jobqueue.models.credit import Credit
from django_jobqueue.models.dead_letter import DeadLetter
from django_jobqueue.models.effect import Effect
from django_jobqueue.models.job import Job
from django_jobqueue.models.limit import Limit
from django_jobqueue.models.pause import Pause
from django_jobqueue.models.rate_bucket import RateBucket
from django_jobqueue.models.worker import Worker

__all__ = [
    "Attempt",
    "AuditEntry",
    "CircuitBreaker",
    "Credit",
    "DeadLetter",
    "Effect",
    "Job",
    "Limit",
    "Pause",
    "RateBucket",
    "Worker",
]
