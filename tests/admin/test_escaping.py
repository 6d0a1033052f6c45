"""Markup in the data of a job stays text, wherever it is shown."""

import re

import pytest

from django_jobqueue.models import DeadLetter, Pause

from .conftest import ADMIN, pages_of

MARKUP = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'><svg/onload=alert(1)>",
    "</script><b>x",
    "</pre></textarea><i>x",
    "{{ 7|add:7 }}{% now %}",
    "javascript:alert(1)",
]
ALL = " ".join(MARKUP)


@pytest.fixture
def hostile(letter, job, worker, entry, pause, limit, breaker):
    """Rows with markup in every column that holds text."""
    short = ALL[:100]
    keeper = worker(hostname=ALL[:255], backend=short[:60], queues=[ALL])
    made = letter(
        task=ALL[:255],
        queue_name=short,
        args=[ALL],
        kwargs={ALL: ALL},
        tags=[ALL],
        metadata={ALL: 1},
        unique_key=short,
        concurrency_key=short,
        order_key=short,
        owner=short,
        note=ALL,
        fingerprint=ALL[:60],
        attempt={
            "exception_class": f"{short}.{short}",
            "message": ALL,
            "traceback": ALL,
            "worker_id": keeper.pk,
        },
    )
    running = job(task=ALL[:255], status="RUNNING", worker_id=keeper.pk, progress={"note": ALL})
    done = job(status="SUCCESSFUL", result=ALL, queue_name=MARKUP[0])
    waiting = job(status="WAITING", queue_name=MARKUP[1], task=MARKUP[1])
    deed = entry(
        actor=ALL[:255], action=MARKUP[0], object=f"job:{made.job_id}", reason=ALL, before=[ALL], after={ALL: ALL}
    )
    other = entry(object=ALL[:255])
    ready = job(queue_name=short)
    why = pause(short, reason=ALL, paused_by=ALL[:255])
    pause(ALL[:200], kind="task", reason=ALL, paused_by=ALL[:255])
    slow = limit(ALL[:255], kind="key", reason=ALL, set_by=ALL[:255])
    held = job("WAITING", waiting_for="limit", queue_name=short, queue_limit=0, concurrency_key=ALL[:255], key_limit=0)
    fuse = breaker(ALL[:255], reason=ALL, last_failure=ALL[:255], set_by=ALL[:255])
    return [made, made.job, running, done, waiting, ready, keeper, deed, other, why, slow, held, fuse]


def assert_harmless(response, where):
    """No markup of ours came through as markup; the page has no inline script, style or handler at all."""
    assert response.status_code == 200, where
    page = response.content.decode()
    for piece in ("<script>alert", "<img src=x", "<svg/onload", "</script><b>", "</pre></textarea>", "<i>x"):
        assert piece not in page, (where, piece)
    tags = re.findall(r"<[a-z][^<>]*>", page)
    assert not [tag for tag in tags if re.search(r"\son\w+\s*=", re.sub(r'"[^"]*"', '""', tag))], where
    assert not re.findall(r"<script(?![^>]*\bsrc=)[^>]*>|<style|\sstyle=\"", page), where
    assert not re.findall(r'(?:href|action|formaction|src)="\s*javascript:', page), where


def test_lists_and_pages(boss, hostile):
    """Every list and every page shows markup as text."""
    for row in hostile:
        for address in pages_of(row):
            assert_harmless(boss.get(address), address)


@pytest.mark.parametrize("text", MARKUP)
def test_filters_and_searches(boss, hostile, text):
    """What is asked for comes back as text, in the choices and in the links."""
    for model, names in (
        ("job", ("status", "task", "queue", "q", "before")),
        ("deadletter", ("status", "task", "owner", "reason", "q", "after")),
        ("auditentry", ("action", "q")),
    ):
        for name in names:
            assert_harmless(boss.get(f"{ADMIN}/{model}/", {name: text}, follow=True), (model, name))


def test_confirmation_and_messages(boss, hostile):
    """A confirmation shows its examples, the reason typed and the filters to return to as text; so do the messages."""
    letter = hostile[0]
    data = {"_selected_action": letter.pk, "_changelist_filters": f"owner={ALL}"}
    for name in ("replay", "discard"):
        address = f"{ADMIN}/deadletter/{name}/"
        assert_harmless(boss.post(address, data), name)
        # Too long, so that the form comes back with it.
        assert_harmless(boss.post(address, data | {"confirm": "1", "reason": ALL * 50}), name)

    back = boss.post(f"{ADMIN}/deadletter/discard/", data | {"confirm": "1", "reason": ALL}, follow=True)
    assert_harmless(back, "back")
    assert DeadLetter.objects.get(pk=letter.pk).status == "DISCARDED"
    for address in pages_of(letter):
        assert_harmless(boss.get(address), address)
    refused = boss.post(f"{ADMIN}/deadletter/discard/", data | {"confirm": "1", "reason": ALL}, follow=True)
    assert_harmless(refused, "refused")


@pytest.mark.parametrize("text", MARKUP)
def test_pausing(boss, hostile, text):
    """What a link asks to pause, what was typed, and the messages about it are shown as text."""
    assert_harmless(boss.get(f"{ADMIN}/pause/add/", {"queue": text}), "link")
    for form in (
        {"kind": text, "target": text, "until": text, "reason": text},
        {"kind": "queue", "target": text * 50, "until": "2h", "reason": text},
        {"kind": "queue", "target": f"*{text}", "reason": text},
        {"kind": "task", "target": text, "reason": text},
    ):
        assert_harmless(boss.post(f"{ADMIN}/pause/add/", form, follow=True), form)
    row = Pause.objects.get(kind="task", target=text)
    data = {"_selected_action": row.pk, "_changelist_filters": f"q={text}"}
    assert_harmless(boss.post(f"{ADMIN}/pause/resume/", data), "resume")
    assert_harmless(boss.post(f"{ADMIN}/pause/resume/", data | {"confirm": "1", "reason": ALL}, follow=True), "back")
    assert not Pause.objects.filter(pk=row.pk).exists()


def test_history_of_the_admin(boss, hostile, django_capture_on_commit_callbacks):
    """The admin's own log shows the reason as text."""
    letter = hostile[0]
    with django_capture_on_commit_callbacks(execute=True):
        boss.post(f"{ADMIN}/deadletter/replay/", {"_selected_action": letter.pk, "confirm": "1", "reason": ALL})

    assert_harmless(boss.get(f"{ADMIN}/deadletter/{letter.pk}/history/"), "history")


def test_pages_do_without_inline_code(boss, letter, settings):
    """A strict Content-Security-Policy blocks nothing of these pages: no inline script, style or handler."""
    made = letter()
    others = [f"{ADMIN}/{page}" for page in ("worker/", "auditentry/", "pause/", "pause/add/", "circuitbreaker/")]
    for address in (*pages_of(made), *pages_of(made.job), *others):
        assert_harmless(boss.get(address), address)
