"""Settings of the demo site. Nothing here is fit for production.

DATABASE_URL chooses the database; without it an embedded PostgreSQL starts on first use.
"""

from importlib.util import find_spec
from pathlib import Path

import environ

env = environ.Env()

BASE_DIR = Path(__file__).resolve().parent.parent

# The demo guards nothing.
SECRET_KEY = "django-insecure-for-the-demo-only"  # noqa: S105
DEBUG = env.bool("DEBUG", default=True)
ALLOWED_HOSTS = ["*"]

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    # Django 5.2 has no tasks of its own and needs the backport's app.
    *([] if find_spec("django.tasks") else ["django_tasks"]),
    "django_jobqueue",
    "demo_project",
    "demo_project.shop",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "demo_project.urls"
ASGI_APPLICATION = "demo_project.asgi.application"
WSGI_APPLICATION = "demo_project.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DATABASES = {
    "default": (
        env.db_url("DATABASE_URL")
        if env.str("DATABASE_URL", default="")
        else {"ENGINE": "demo_project.embedded_pg", "NAME": "demo"}
    ),
}
# `demo --once` rehearses in a database of its own on the same server.
DATABASES["default"]["NAME"] = env.str("DEMO_DATABASE", default=DATABASES["default"]["NAME"])
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TASKS = {
    "default": {
        "BACKEND": "django_jobqueue.backend.JobQueueBackend",
        "QUEUES": [],
        # For short leases in a rehearsal: JOBQUEUE_OPTIONS='{"lease_seconds": 3}'
        "OPTIONS": {
            # Leads come from outside: with so many in line, the webhook asks its senders to come again later.
            "queues": {"leads": {"max_depth": 1000}},
            **env.json("JOBQUEUE_OPTIONS", default={}),
        },
    },
}

LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"

# The shop keeps uploads, received mail and the ledgers of its partners in one folder.
SHOP_STATE_DIR = Path(env.str("SHOP_STATE_DIR", default=str(BASE_DIR / ".jobqueue" / "shop")))
MEDIA_ROOT = SHOP_STATE_DIR / "media"

# `manage.py demo` starts these servers, and tells where they listen.
SHOP_PAYMENTS_URL = env.str("SHOP_PAYMENTS_URL", default="http://127.0.0.1:9")
SHOP_ENRICHMENT_URL = env.str("SHOP_ENRICHMENT_URL", default="http://127.0.0.1:9")
SHOP_CRM_URL = env.str("SHOP_CRM_URL", default="http://127.0.0.1:9")
SHOP_SMTP_PORT = env.int("SHOP_SMTP_PORT", default=9)
DEFAULT_FROM_EMAIL = "Larkspur Prints <hello@larkspur.example>"

SHOP_WEBHOOK_SECRET = env.str("SHOP_WEBHOOK_SECRET", default="for-the-demo-only")
SHOP_REQUEST_SECONDS = env.float("SHOP_REQUEST_SECONDS", default=3.0)
SHOP_BACKOFF_SECONDS = env.float("SHOP_BACKOFF_SECONDS", default=2.0)
SHOP_MAX_UPLOAD_BYTES = 8 * 1024 * 1024
SHOP_MAX_PIXELS = 40_000_000
