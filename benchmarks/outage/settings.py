"""Settings of the benchmark: a database of its own, and whether there is a breaker."""

import os

from benchmarks.settings import *  # noqa: F403
from benchmarks.settings import DATABASES, INSTALLED_APPS, LOGGING

DATABASES["default"]["NAME"] = "bench_outage"
INSTALLED_APPS = [*INSTALLED_APPS, "benchmarks.outage"]
HAS_BREAKER = os.environ.get("OUTAGE_BREAKER") == "1"
LOGGING["loggers"]["django_jobqueue"] = {"level": "CRITICAL"}
