"""`manage.py jobqueue_worker`.

Runworker, under a name that no other app takes (Django Channels has a runworker too).
"""

from django_jobqueue.management.commands.runworker import Command

__all__ = ["Command"]
