"""What the settings of the benchmarks share: the app and little else, no debug, no log."""

from demo_project.settings import DATABASES as _DATABASES
from demo_project.settings import INSTALLED_APPS as _INSTALLED_APPS

SECRET_KEY = "a benchmark has no secrets"
USE_TZ = True
DATABASES = {"default": dict(_DATABASES["default"])}
INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django_jobqueue",
    *(app for app in _INSTALLED_APPS if app == "django_tasks"),
]
TASKS = {"default": {"BACKEND": "django_jobqueue.backend.JobQueueBackend", "QUEUES": [], "OPTIONS": {}}}
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "loggers": {"django": {"level": "WARNING"}, "django_jobqueue": {"level": "WARNING"}},
}
