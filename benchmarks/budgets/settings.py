"""Settings of the benchmark: the app, no debug, warnings of jobs that end as they should not are not news here."""

import json
import os

from demo_project.settings import DATABASES as _DATABASES
from demo_project.settings import INSTALLED_APPS as _INSTALLED_APPS

SECRET_KEY = "a benchmark has no secrets"
USE_TZ = True
DATABASES = {"default": _DATABASES["default"] | {"NAME": "bench_budgets"}}
INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django_jobqueue",
    "benchmarks.budgets",
    *(app for app in _INSTALLED_APPS if app == "django_tasks"),
]
TASKS = {
    "default": {
        "BACKEND": "django_jobqueue.backend.JobQueueBackend",
        "QUEUES": [],
        "OPTIONS": json.loads(os.environ.get("BUDGET_OPTIONS", "{}")),
    }
}
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "loggers": {
        "django": {"level": "WARNING"},
        "django_jobqueue": {"handlers": ["console"], "level": "INFO"},
    },
}
