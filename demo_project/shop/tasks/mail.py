"""Mail, through SMTP.

Safe to run twice: the delivery is locked while its mail is sent, so a twin waits, finds `sent_at`
and leaves. SMTP knows no idempotency key: if the process dies between the server's "250" and the
commit, the next attempt sends the mail again, under the same Message-ID.
"""

from __future__ import annotations

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from demo_project.shop.models import Delivery
from demo_project.shop.post import Bounced, send
from django_jobqueue import task
from django_jobqueue.backoff import exponential


@task(
    queue_name="mail",
    max_attempts=6,
    backoff=exponential(settings.SHOP_BACKOFF_SECONDS, cap_seconds=300, jitter="equal"),
    never_retry=(Bounced,),
    timeout=30,
    owner="mail team",
    runbook="Bounced: correct the customer's address, then replay. Else: is the mail server up?",
)
def send_mail(delivery_id: int, template_id: str, user_id: int) -> str:
    """Send one delivery, unless it has been sent.

    Raises Bounced where the server will never take it; whatever else smtplib raises is tried again.
    """
    owed = Delivery.objects.filter(pk=delivery_id, template_id=template_id, user_id=user_id)
    try:
        with transaction.atomic():
            delivery = owed.select_related("user").select_for_update(of=("self",)).get()
            if delivery.sent_at is not None:
                return "already sent"
            send(delivery)
            owed.update(sent_at=Now(), bounced_at=None, bounce="")
    except Bounced as bounced:
        owed.update(bounced_at=Now(), bounce=str(bounced)[:200])
        raise
    return "sent"
