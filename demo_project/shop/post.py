"""The mails of the shop: what is owed, what it says, and handing it to the mail server."""

from __future__ import annotations

import smtplib
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.db import transaction
from django.template.loader import render_to_string

from demo_project.shop.models import Delivery, Lead, Order

SMTP_SECONDS = 10.0
"""How long each step of the conversation with the mail server may take."""


class Bounced(Exception):
    """The mail server refused the address for good. The message is the server's, without names."""


def owe(template_id: str, *, about: Order | Lead, user: User) -> Delivery:
    """Owe a user one mail about one thing, and ask for the job that sends it.

    Asked again for the same mail, it answers with the same row and asks for no second job.
    """
    from demo_project.shop.tasks.mail import send_mail

    with transaction.atomic():
        delivery, is_new = Delivery.objects.get_or_create(
            template_id=template_id,
            about=f"{about._meta.model_name}:{about.pk}",
            defaults={"user": user},
        )
        if is_new:
            job = send_mail.enqueue(delivery_id=delivery.pk, template_id=template_id, user_id=user.pk)
            delivery.job_id = job.id
            delivery.save(update_fields=["job_id"])
    return delivery


def send(delivery: Delivery) -> None:
    """Hand a delivery to the mail server.

    Raises Bounced for a refusal that will not change (SMTP 5xx), smtplib's error for one that may.
    """
    message = message_for(delivery).message()
    try:
        # Not by a setting of Django's: EMAIL_HOST is going, and MAILERS is not everywhere yet.
        with smtplib.SMTP("127.0.0.1", settings.SHOP_SMTP_PORT, timeout=SMTP_SECONDS) as server:
            server.send_message(message)
    except smtplib.SMTPRecipientsRefused as refused:
        code, text = next(iter(refused.recipients.values()))
        if code >= 500:
            raise Bounced(f"{code} {text.decode(errors='replace')}") from None
        raise


def message_for(delivery: Delivery) -> EmailMessage:
    """Write the mail of a delivery, the same each time: its Message-ID is the delivery's."""
    context = {"delivery": delivery, "user": delivery.user, **_about(delivery)}
    subject, _, body = render_to_string(f"shop/mail/{delivery.template_id}.txt", context).partition("\n")
    return EmailMessage(
        subject=subject,
        body=body.lstrip("\n"),
        to=[delivery.user.email],
        headers={"Message-ID": f"<delivery-{delivery.pk}@larkspur.example>"},
    )


def _about(delivery: Delivery) -> dict[str, Any]:
    model, _, pk = delivery.about.partition(":")
    match model:
        case "order":
            return {"order": Order.objects.prefetch_related("lines__product").get(pk=pk)}
        case "lead":
            return {"lead": Lead.objects.get(pk=pk)}
        case _:
            raise ValueError(f"no mail is about {delivery.about!r}; know order:… and lead:…")
