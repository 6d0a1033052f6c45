"""Back-off policies for `@task(backoff=…)`; the thoughts behind them are in `policy/backoff.py`."""

from django_jobqueue.policy.backoff import Backoff, Jitter, constant, exponential, linear

__all__ = ["Backoff", "Jitter", "constant", "exponential", "linear"]
