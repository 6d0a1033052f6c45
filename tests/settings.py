"""Settings of the test suite: the demo's, with a database of its own for each run."""

import os

from demo_project.settings import *  # noqa: F403
from demo_project.settings import DATABASES

DEBUG = False

if DATABASES["default"]["ENGINE"] == "demo_project.embedded_pg":
    # Two runs at once share the server; with one name each would drop the other's database.
    DATABASES["default"]["TEST"] = {"NAME": f"test_demo_{os.getpid()}"}

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # fast, and nothing to guard
