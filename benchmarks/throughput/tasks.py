"""What the benchmark runs."""

import os
import time

from django_jobqueue import task


@task
def nothing(number):
    """Do nothing."""


@task
def note_the_time(number):
    """Append the moment of its start to the file that the benchmark watches."""
    now = time.clock_gettime(time.CLOCK_MONOTONIC)
    with open(os.environ["BENCH_PICK_UP_FILE"], "a") as file:  # noqa: PTH123 - one syscall less
        file.write(f"{number} {now}\n")


@task
async def nothing_async(number):
    """Do nothing, in the event loop. That it is there makes every worker look for coroutines too, as most do."""
