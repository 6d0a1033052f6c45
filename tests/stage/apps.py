"""The app of the scenarios' tasks; it listens to the signals as a project would."""

import multiprocessing
import os
import subprocess
import threading
import time

from django.apps import AppConfig


class StageConfig(AppConfig):
    """The stage."""

    name = "tests.stage"
    label = "stage"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self):
        """Connect the receivers, and break, where a test asks for it."""
        if os.path.exists(os.environ.get("STAGE_BROKEN", "")):  # noqa: PTH110 - "" is no path
            raise ImportError("half a deploy")
        if os.environ.get("STAGE_PROGRAM"):
            subprocess.Popen(["sleep", "2"])
        if os.environ.get("STAGE_FORK"):
            multiprocessing.get_context("fork").Process(target=time.sleep, args=(20,), daemon=True).start()
        if os.environ.get("STAGE_RECEIVERS"):
            from tests.stage import receivers  # noqa: F401 - connects by being imported
        if os.environ.get("STAGE_THREAD"):
            threading.Thread(target=threading.Event().wait, name="left-behind", daemon=True).start()
