"""A depth limit of a queue that is on another database than the rows."""

import pytest
from django.db import transaction

from django_jobqueue.exceptions import QueueFull
from django_jobqueue.models import Job
from tests import tasks as cast
from tests.two_databases import TASKS

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "queue", "spare"])


def test_a_full_queue_is_told_at_the_call(settings):
    """What was promised before the commit is kept, though it is more by then; and from then on a call is refused."""
    options = TASKS["default"]["OPTIONS"] | {"queues": {"default": {"max_depth": 2}}}
    settings.TASKS = {"default": TASKS["default"] | {"OPTIONS": options}}
    with transaction.atomic():
        for _ in range(3):
            cast.succeed.enqueue()

    with pytest.raises(QueueFull), transaction.atomic():
        cast.succeed.enqueue()

    assert Job.objects.count() == 3
