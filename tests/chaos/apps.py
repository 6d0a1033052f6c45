"""The app that brings the tasks of the chaos."""

from django.apps import AppConfig


class ChaosConfig(AppConfig):
    """Has tasks and no models."""

    name = "tests.chaos"
    label = "chaos"
