"""Where the tasks of the scenarios leave their traces."""

from django.db import models
from django.db.models.functions import Now


class Trace(models.Model):
    """One effect of one run of a task. Nothing makes it unique: it counts what really happened."""

    what = models.CharField(max_length=100)
    job_id = models.BigIntegerField(null=True)
    attempt = models.IntegerField(null=True)
    pid = models.IntegerField(null=True)
    at = models.DateTimeField(db_default=Now())


class Order(models.Model):
    """An effect that can happen once only: the constraint says so."""

    key = models.CharField(max_length=100, unique=True)
