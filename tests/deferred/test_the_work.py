"""What many jobs of one transaction cost."""

import sys

import pytest
from django.db import transaction

from django_jobqueue import deferred, producer
from django_jobqueue.models import Job
from tests import tasks as cast

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "queue", "spare"])


class TestTheWork:
    """What many jobs of one transaction cost."""

    def test_many_calls_in_both_transactions(self):
        """With and without keys, beside callbacks of the project's."""

        def ask(count):
            with transaction.atomic(using="queue"), transaction.atomic():
                for number in range(count):
                    cast.bill.enqueue(number)
                    cast.bill.enqueue(number)
                    cast.succeed.enqueue()
                    transaction.on_commit(dict)

        assert_grows_evenly(ask)

    def test_many_savepoints(self):
        """Of both, inside of one transaction."""

        def ask(count):
            with transaction.atomic(using="queue"), transaction.atomic():
                for number in range(count):
                    with transaction.atomic(using="queue"), transaction.atomic():
                        cast.bill.enqueue(number)
                    cast.bill.enqueue(number)

        assert_grows_evenly(ask)


def assert_grows_evenly(ask):
    """The last jobs take as many steps as those before them."""
    first, second, third = (steps_of(ask, count) for count in (20, 40, 60))
    assert third - second == pytest.approx(second - first, rel=0.02)


def steps_of(ask, count):
    """Count the bytecodes that Python runs for it in the modules that keep the account of what waits."""
    steps = 0

    def trace(frame, event, arg):
        nonlocal steps
        if frame.f_code.co_filename not in {deferred.__file__, producer.__file__}:
            return None
        frame.f_trace_opcodes = True
        steps += event == "opcode"
        return trace

    Job.objects.all().delete()
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        ask(count)
    finally:
        sys.settrace(before)
    return steps
