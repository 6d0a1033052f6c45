"""Each kind of work of the shop, delivered twice in every way that a killed process can bring about."""

import pytest
from django.core.files.base import ContentFile

from demo_project.shop import samples
from demo_project.shop.inbox import received
from demo_project.shop.intake import NewLead, take_in_lead, take_in_photo
from demo_project.shop.models import Charge, Delivery, Lead, Thumbnail, WeeklyReport
from demo_project.shop.tasks import build_weekly_report, charge_invoice, make_thumbnails, pass_on_lead, send_mail
from demo_project.shop.week import Week
from django_jobqueue.testing import deliver_twice

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_invoice_is_charged_and_noted_once(partners, order):
    """The provider's book has one charge, and so has the shop's."""
    before = 0

    def arrange():
        nonlocal before
        before = len(partners.charges())
        return {"invoice_id": order().invoice.pk}

    def effects(invoice_id):
        noted = Charge.objects.filter(invoice_id=invoice_id).count()
        return {"charged": len(partners.charges()) - before, "noted": noted}

    drill = deliver_twice(charge_invoice, arrange, effects)

    assert drill.once == {"charged": 1, "noted": 1}
    assert drill.is_safe, str(drill)


def test_a_lead_is_passed_on_once(partners, shop):
    """One entry in the CRM, one mail that is owed."""
    numbers = iter(range(1000))

    def arrange():
        partners.forget()
        lead, _ = take_in_lead(NewLead("fair", str(next(numbers)), "Mary Anning", "Ammonite Ltd"))
        return {"lead_id": lead.pk}

    def effects(lead_id):
        lead = Lead.objects.get(pk=lead_id)
        return {
            "entries": len(partners.crm_entries()),
            "noted": int(bool(lead.crm_reference)),
            "owed": Delivery.objects.filter(template_id="new_lead", about=f"lead:{lead_id}").count(),
        }

    drill = deliver_twice(pass_on_lead, arrange, effects)

    assert drill.once == {"entries": 1, "noted": 1, "owed": 1}
    assert drill.is_safe, str(drill)


def test_a_mail_is_sent_under_one_id(partners, order):
    """SMTP has no key: killed between the server's answer and the commit it goes out again, as the same message."""

    def arrange():
        order()
        delivery = Delivery.objects.latest("pk")
        partners.forget()
        return {"delivery_id": delivery.pk, "template_id": delivery.template_id, "user_id": delivery.user_id}

    def effects(delivery_id, **_):
        mails = received()
        sent = Delivery.objects.filter(pk=delivery_id, sent_at__isnull=False).count()
        return {"messages": len({mail.message_id for mail in mails}), "copies": len(mails), "noted": sent}

    drill = deliver_twice(send_mail, arrange, effects)

    assert drill.once == {"messages": 1, "copies": 1, "noted": 1}
    assert drill.doubled == {"copies": ["killed before commit 1"]}
    assert (drill.missing, drill.failed) == ({}, [])


def test_a_photo_has_its_thumbnails_once(shop, media):
    """Six rows and six files, whoever dies among them."""

    def arrange():
        return {"photo_id": take_in_photo("dawn", ContentFile(samples.photo(), name="dawn.jpg")).pk}

    def effects(photo_id):
        files = len(list((media / "photos" / str(photo_id)).glob("*")))
        return {"rows": Thumbnail.objects.filter(photo_id=photo_id).count(), "files": files}

    drill = deliver_twice(make_thumbnails, arrange, effects)

    assert drill.once == {"rows": 6, "files": 6}
    assert drill.is_safe, str(drill)


def test_a_week_has_one_report(order):
    """The second run replaces the first one's."""

    def arrange():
        WeeklyReport.objects.all().delete()
        return {"week": str(Week.current())}

    order()
    drill = deliver_twice(
        build_weekly_report, arrange, lambda week: {"reports": WeeklyReport.objects.filter(week=week).count()}
    )

    assert drill.once == {"reports": 1}
    assert drill.is_safe, str(drill)
