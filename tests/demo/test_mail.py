"""Mail: one per delivery, whatever the server says and however often the job runs."""

import smtplib

import pytest
from django.contrib.auth.models import User

from demo_project.shop.inbox import received
from demo_project.shop.models import Delivery
from demo_project.shop.post import Bounced, owe
from demo_project.shop.seed import seed
from demo_project.shop.tasks.mail import send_mail
from django_jobqueue.models import Job


def run_again(delivery: Delivery) -> str:
    return send_mail.func(delivery.pk, delivery.template_id, delivery.user_id)


def test_mail_is_sent_once(partners, order):
    """A job that is delivered twice sends one mail."""
    order()
    delivery = Delivery.objects.get()

    assert [run_again(delivery), run_again(delivery)] == ["sent", "already sent"]
    assert [mail.to for mail in received()] == ["ada@example.com"]


def test_twins_at_once_send_one_mail(partners, transactional_db, order, at_once):
    """Two workers that run the same job at the same moment send one mail."""
    order()
    delivery = Delivery.objects.get()

    assert sorted(at_once(lambda: run_again(delivery))) == ["already sent", "sent"]
    assert len(received()) == 1


def test_bounce_is_not_retried(partners, order):
    """A permanent refusal is Bounced, which the task never retries; the delivery says why."""
    order(email="nobody@bounce.example")
    delivery = Delivery.objects.get()

    with pytest.raises(Bounced, match="550"):
        run_again(delivery)

    delivery.refresh_from_db()
    assert delivery.bounced_at is not None
    assert "no such mailbox" in delivery.bounce
    assert Bounced in send_mail.never_retry


def test_greylisting_is_retried(partners, order):
    """A temporary refusal is tried again, and in the end the mail arrives."""
    order(email="emmy@greylist.example")
    delivery = Delivery.objects.get()

    for _ in range(2):
        with pytest.raises(smtplib.SMTPRecipientsRefused, match="450"):
            run_again(delivery)
    assert run_again(delivery) == "sent"
    assert len(received()) == 1


def test_mail_says_what_was_ordered(partners, order):
    """The mail is written from the order, not from the job."""
    placed = order()
    run_again(Delivery.objects.get())

    (mail,) = received()
    assert mail.subject == f"Your order {placed.pk} at Larkspur Prints"
    assert "2 \N{MULTIPLICATION SIGN} Morning hills, €38.00" in mail.text


def test_payload_holds_ids_only(order):
    """A mail's job carries three ids: no address, no name, no text."""
    order(email="secret.person@example.com")
    delivery = Delivery.objects.get()

    job = Job.objects.get(pk=delivery.job_id)
    assert job.kwargs == {
        "delivery_id": delivery.pk,
        "template_id": "order_confirmation",
        "user_id": User.objects.get(email="secret.person@example.com").pk,
    }


def test_same_mail_is_owed_once(order):
    """Asking again for the mail about an order finds the delivery, and asks for no second job."""
    placed = order()

    owe("order_confirmation", about=placed, user=placed.customer)

    assert Delivery.objects.count() == 1
    assert Job.objects.filter(queue_name="mail").count() == 1


def test_seed_can_run_twice(db):
    """Seeding a shop that is open adds nothing."""
    seed()
    seed()

    assert User.objects.count() == 2
