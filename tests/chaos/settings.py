"""Settings of the workers and the producer in a chaos run: the suite's, with few apps, so that a worker starts fast."""

from importlib.util import find_spec

from tests.settings import *  # noqa: F403

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    *([] if find_spec("django.tasks") else ["django_tasks"]),
    "django_jobqueue",
    "tests.stage.apps.StageConfig",
    "tests.chaos.apps.ChaosConfig",
]
MIDDLEWARE = []
TEMPLATES = []
ROOT_URLCONF = None
