"""Settings of the benchmark: a database of its own, options as a line names them, and the workers' log."""

import json
import os

from benchmarks.settings import *  # noqa: F403
from benchmarks.settings import DATABASES, INSTALLED_APPS, LOGGING, TASKS

DATABASES["default"]["NAME"] = "bench_budgets"
INSTALLED_APPS = [*INSTALLED_APPS, "benchmarks.budgets"]
TASKS["default"]["OPTIONS"] = json.loads(os.environ.get("BUDGET_OPTIONS", "{}"))
LOGGING["handlers"] = {"console": {"class": "logging.StreamHandler"}}
LOGGING["loggers"]["django_jobqueue"] = {"handlers": ["console"], "level": "INFO"}
