"""Settings of the workers and the producer in a chaos run: the suite's, with the cast of the chaos."""

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.chaos.apps.ChaosConfig"]
