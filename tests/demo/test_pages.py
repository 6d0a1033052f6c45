"""Pages: they answer at once, ask for jobs in the transaction of what they are about, and bound input."""

import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from demo_project.shop import samples
from demo_project.shop.models import Invoice, Lead, Order, Photo, Product, WeeklyReport
from demo_project.shop.tasks.billing import charge_invoice
from django_jobqueue.models import Job

PAGES = ["", "activity/", "checkout/", "mail/", "photos/", "invoices/", "leads/", "reports/"]
LEAD = {"source": "fair", "external_id": "17", "name": "Mary", "company": "Ammonite Ltd"}


def checkout_form(**changes):
    product = Product.objects.earliest("pk")
    form = {"name": "Ada", "email": "ada@example.com", "card": "4000 0000 0000 0001"}
    return form | {f"product_{product.pk}": "1"} | changes


def call_hook(client, document, secret="for-the-demo-only"):
    return client.post("/hooks/leads/", document, "application/json", headers={"X-Shop-Secret": secret})


@pytest.mark.parametrize("page", PAGES)
def test_page_has_no_inline_code(client, order, page):
    """No page needs script-src or style-src beyond 'self', nor anything from another host."""
    order()

    html = client.get(f"/{page}").content.decode()

    assert not re.search(r"<style|<script(?![^>]* src=\"/)| style=| on\w+=", html)
    assert not re.findall(r"(?:src|href)=\"(?:https?:)?//", html)


@pytest.mark.parametrize("page", PAGES)
def test_page_works_in_an_empty_shop(client, db, page):
    """A page with nothing to show says so."""
    assert client.get(f"/{page}").status_code == 200


def test_checkout_answers_before_any_work_is_done(client, shop):
    """Placing an order redirects at once: its charge and its mail are jobs that wait."""
    response = client.post("/checkout/", checkout_form())

    assert (response.status_code, response["Location"]) == (302, "/activity/")
    statuses = dict(Job.objects.values_list("queue_name", "status"))
    assert statuses == {"billing": "READY", "mail": "READY"}


def test_order_that_is_rolled_back_leaves_no_job(client, shop, monkeypatch):
    """If placing the order fails after its charge was asked for, nothing of both remains."""

    def fail(*args, **kwargs):
        raise RuntimeError("after the enqueue")

    monkeypatch.setattr("demo_project.shop.checkout.owe", fail)

    with pytest.raises(RuntimeError, match="after the enqueue"):
        client.post("/checkout/", checkout_form())
    assert not Job.objects.exists()
    assert not Order.objects.exists()


@pytest.mark.parametrize("changes", [{"email": "nobody"}, {"card": "1"}, {"name": ""}, {"name": "x" * 81}])
def test_checkout_refuses_what_it_cannot_use(client, shop, changes):
    """A form with a fault is shown again with 422, and asks for nothing."""
    response = client.post("/checkout/", checkout_form(**changes))

    assert response.status_code == 422
    assert not Job.objects.exists()


def test_empty_basket_is_no_order(client, shop):
    """Nothing in the basket, nothing ordered."""
    product = Product.objects.earliest("pk")

    response = client.post("/checkout/", checkout_form(**{f"product_{product.pk}": "0"}))

    assert "Put at least one print in the basket." in response.content.decode()
    assert not Order.objects.exists()


def test_leads_show_a_command_that_works(client, db):
    """The line to copy has the secret in it that the webhook asks for."""
    page = client.get("/leads/").content.decode()
    secret = re.search(r"X-Shop-Secret: ([\w-]+)", page)[1]

    assert call_hook(client, json.dumps(LEAD), secret).status_code == 202


@pytest.mark.parametrize("path", ["checkout/", "photos/", "photos/sample/", "leads/twice/", "reports/", "poison/"])
def test_forms_need_their_token(shop, path):
    """Every form is refused without its CSRF token."""
    assert Client(enforce_csrf_checks=True).post(f"/{path}").status_code == 403


@pytest.mark.parametrize("path", ["photos/sample/", "leads/twice/", "poison/", "hooks/leads/"])
def test_reading_asks_for_nothing(client, db, path):
    """What starts work cannot be started by following a link."""
    assert client.get(f"/{path}").status_code == 405


def test_photo_is_taken_in_unopened(client, db):
    """An upload is kept as it came, even a damaged one; its job is waiting."""
    original = SimpleUploadedFile("x.jpg", samples.damaged(), "image/jpeg")

    response = client.post("/photos/", {"title": "x", "original": original})

    assert response.status_code == 302
    assert Job.objects.get().kwargs == {"photo_id": Photo.objects.get().pk}


def test_large_photo_is_refused_by_the_form(client, db, settings):
    """A photo over the limit is refused with the limit named, and nothing is kept."""
    settings.SHOP_MAX_UPLOAD_BYTES = 1000
    original = SimpleUploadedFile("x.jpg", b"x" * 1001)

    response = client.post("/photos/", {"title": "x", "original": original})

    assert response.status_code == 422
    assert not Photo.objects.exists()


def test_huge_body_is_refused_unread(client, db, settings):
    """A body far over the limit is answered with 413 from its length alone."""
    settings.SHOP_MAX_UPLOAD_BYTES = 1000
    original = SimpleUploadedFile("x.jpg", b"x" * 100_000)

    response = client.post("/photos/", {"title": "x", "original": original})

    assert response.status_code == 413


def test_hook_answers_at_once_and_twice_alike(client, db):
    """A repeated delivery is answered with 202 as the first was, and says that it is not new."""
    answers = [call_hook(client, json.dumps(LEAD)) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [202, 202]
    assert [answer.json()["new"] for answer in answers] == [True, False]
    assert Lead.objects.get().deliveries == 2
    assert Job.objects.count() == 2


@pytest.mark.parametrize("secret", ["", "wrong", "für-die-demo"])
def test_hook_needs_the_secret(client, db, secret):
    """Without the shared secret nothing is read and nothing enqueued."""
    assert call_hook(client, json.dumps(LEAD), secret.encode().decode("latin-1")).status_code == 403
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    "document",
    ["", "[]", "null", '{"source": "fair"}', json.dumps(LEAD | {"name": "x" * 121}), "\xff"],
)
def test_hook_refuses_what_it_cannot_read(client, db, document):
    """A document that is not a lead is answered with 422 and a reason."""
    response = call_hook(client, document)

    assert response.status_code == 422
    assert response.json()["error"]
    assert not Job.objects.exists()


def test_hook_bounds_its_body(client, db):
    """A hook larger than any lead is refused by its length."""
    assert call_hook(client, "x" * 20_000).status_code == 413


def test_card_can_be_changed(client, order):
    """Another card is noted on the invoice; the job waits for its replay."""
    invoice = order(card="4000 0000 0000 0402").invoice

    client.post(f"/invoices/{invoice.pk}/card/", {f"{invoice.pk}-card": "4000 0000 0000 0001"})

    assert Invoice.objects.get().card == "4000 0000 0000 0001"


def test_paid_invoice_shows_its_reference(client, partners, order, context):
    """An invoice with a charge is paid."""
    reference = charge_invoice.func(context, order().invoice.pk)

    assert reference in client.get("/invoices/").content.decode()


def test_report_can_be_taken_home(client, db):
    """A report is served as a file, under the name of its week."""
    WeeklyReport.objects.create(week="2026-W48", csv="a,b\r\n", orders=0, total_cents=0)

    response = client.get("/reports/2026-W48.csv")

    assert response["Content-Disposition"] == 'attachment; filename="week-2026-W48.csv"'
    assert response.content == b"a,b\r\n"


def test_activity_shows_jobs_of_one_kind(client, order):
    """The activity page can be narrowed to one kind of work."""
    order()

    html = client.get("/activity/?kind=billing").content.decode()

    assert "invoice" in html
    assert "delivery" not in html


def test_activity_asks_a_fixed_number_of_queries(client, order, django_assert_max_num_queries):
    """The page's queries do not grow with the number of jobs on it."""
    for _ in range(10):
        order()

    with django_assert_max_num_queries(8):
        client.get("/activity/")
