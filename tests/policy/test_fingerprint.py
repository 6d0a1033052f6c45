"""Deaths of one kind have one name."""

from django_jobqueue.policy.fingerprint import fingerprint
from django_jobqueue.policy.outcomes import Failure

TRACEBACK = """Traceback (most recent call last):
  File "/app/shop/tasks.py", line {line}, in charge
    gateway.pay(invoice)
  File "/app/shop/gateway.py", line 7, in {function}
    raise Declined(number)
Declined: {message}
"""


def letter(*, task="shop.charge", reason="attempts_exhausted", message="4111", line=12, function="pay"):
    """Return the fingerprint of a death with these particulars."""
    text = TRACEBACK.format(line=line, message=message, function=function)
    return fingerprint(task, reason, Failure("shop.Declined", message, text))


def test_message_and_line_do_not_count():
    """A thousand letters of one outage, and those after a deploy, share a fingerprint."""
    assert letter() == letter(message="4222") == letter(line=99)


def test_task_reason_and_place_count():
    """Other tasks, reasons and functions are other kinds of death."""
    kinds = {
        letter(),
        letter(task="shop.refund"),
        letter(reason="rejected"),
        letter(function="ask"),
    }

    assert len(kinds) == 4


def test_a_death_without_words_has_one_too():
    """A worker that vanished left no traceback; its letters are grouped all the same."""
    assert len(fingerprint("shop.charge", "attempts_exhausted", Failure())) == 16


def test_any_text_can_be_hashed():
    """Even text that is no UTF-8 has a fingerprint."""
    assert len(fingerprint("\ud800", "", Failure("\udc80"))) == 16
