"""SHOWS: the pages on which a team operates its queue.

The pages read; what a person decides goes through `operations`, as on the command line and in code. Nothing is edited
in place: no change form, no delete, and what is added is a pause or a limit.

- `jobs`          what was asked for, and how each attempt ended
- `dead_letters`  the daily page: replay, or discard with a reason
- `audit`         who decided what
- `workers`       who is at work
- `controls`      what a person sets and takes back: a list, a form and a page of it
- `pauses`        what nobody starts for now: pause and resume
- `breakers`      what tasks depend on, and whether their jobs wait for it: open and close
- `paused`        the same as the pages of jobs tell it
- `limits`        how many run at once: what holds, what is taken, set and take back
- `base`          what the lists have in common
- `acts`          confirm, act, tell: the one road of every button, on every Django
- `paging`        Newer and Older by keyset, counts with a cap, searches with a depth
- `filters`       tabs and drop-downs whose choices cost nothing
- `rows`          how a row is read so that no content of it can break a page
- `display`       how it is shown: escaped, capped, invisible characters made visible
- `covers`        what may be said of a row, without the secrets of its job
- `attempts`      the last error in a list, the timeline on a page
- `job_facts`     how the columns of a job are put, the same everywhere
- `reasons`       why a job died, in words, and what to do
- `why`           why one waits, and the way to what stands in its way

What is hard here: a queue collects whatever went wrong elsewhere. Any row may hold markup, five megabytes of
traceback, a date that Python cannot hold or a reference to nothing, and the page that shows it is needed just then.

The clock is PostgreSQL's: ages are differences of two of its times.
"""

from django_jobqueue.admin.audit import AuditEntryAdmin
from django_jobqueue.admin.breakers import CircuitBreakerAdmin
from django_jobqueue.admin.dead_letters import DeadLetterAdmin
from django_jobqueue.admin.jobs import JobAdmin
from django_jobqueue.admin.limits import LimitAdmin
from django_jobqueue.admin.pauses import PauseAdmin
from django_jobqueue.admin.workers import WorkerAdmin

__all__ = [
    "AuditEntryAdmin",
    "CircuitBreakerAdmin",
    "DeadLetterAdmin",
    "JobAdmin",
    "LimitAdmin",
    "PauseAdmin",
    "WorkerAdmin",
]
