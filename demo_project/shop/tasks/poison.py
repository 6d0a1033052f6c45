"""A poison message: a job that takes its process with it, as a broken library would."""

from __future__ import annotations

import os
import signal

from django.conf import settings

from django_jobqueue import task
from django_jobqueue.backoff import constant


@task(
    queue_name="default",
    max_attempts=3,
    backoff=constant(settings.SHOP_BACKOFF_SECONDS),
    owner="nobody's favourite",
    runbook="It was sent to die. Discard it.",
)
def kill_own_process() -> None:
    """Kill the process that runs this, without a chance to clean up."""
    os.kill(os.getpid(), signal.SIGKILL)
