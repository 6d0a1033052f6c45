"""Settings of the benchmark: a database of its own."""

from benchmarks.settings import *  # noqa: F403
from benchmarks.settings import DATABASES, INSTALLED_APPS

DATABASES["default"]["NAME"] = "bench_throughput"
INSTALLED_APPS = [*INSTALLED_APPS, "benchmarks.throughput"]
