"""Settings of the test suite: the demo's, with a database of its own for each run."""

import json
import os

from demo_project.settings import *  # noqa: F403
from demo_project.settings import DATABASES, INSTALLED_APPS, env

DEBUG = False

INSTALLED_APPS = [*INSTALLED_APPS, "tests.stage.apps.StageConfig"]

# Leases are short, so that a test of a lost worker takes seconds; a scenario may say otherwise for its own workers.
TASKS = {
    "default": {
        "BACKEND": "django_jobqueue.backend.JobQueueBackend",
        "QUEUES": [],
        "OPTIONS": {"lease_seconds": 3, "renew_seconds": 1, "rescue_seconds": 0.5, "poll_seconds": 0.3}
        | json.loads(os.environ.get("STAGE_OPTIONS", "{}")),
    }
}

if DATABASES["default"]["ENGINE"] == "demo_project.embedded_pg":
    # Two runs at once share the server; with one name each would drop the other's database.
    DATABASES["default"]["TEST"] = {"NAME": f"test_demo_{os.getpid()}"}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "loggers": {"django_jobqueue": {"handlers": ["console"], "level": "INFO"}},
}

# A project of other habits than the demo's, for the processes of one scenario.
DATABASES["default"].setdefault("OPTIONS", {}).update(json.loads(os.environ.get("STAGE_DATABASE_OPTIONS", "{}")))
DATABASES["default"].update(json.loads(os.environ.get("STAGE_DATABASE", "{}")))
if queue_url := os.environ.get("STAGE_QUEUE_URL"):
    DATABASES["queue"] = env.db_url_config(queue_url)
globals().update(json.loads(os.environ.get("STAGE_SETTINGS", "{}")))

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # fast, and nothing to guard
