"""Who may see and do what: every address, for every kind of person, by GET and by POST."""

import pytest
from django.urls import get_resolver, reverse

from django_jobqueue.models import AuditEntry, DeadLetter, Job, Limit, Pause

from .conftest import ADMIN

VIEW = (
    "view_job",
    "view_deadletter",
    "view_auditentry",
    "view_worker",
    "view_pause",
    "view_limit",
    "view_circuitbreaker",
)
PEOPLE = {
    "anonymous": None,
    "a visitor": {"is_staff": False},
    "staff without permission": {},
    "a viewer": {"codenames": VIEW},
    "a replayer": {"codenames": (*VIEW, "replay_deadletter")},
    "a discarder": {"codenames": (*VIEW, "discard_deadletter")},
    "a canceller": {"codenames": (*VIEW, "cancel_job")},
    "a pauser": {"codenames": (*VIEW, "pause_queue")},
    "a limiter": {"codenames": (*VIEW, "change_limit")},
    "an electrician": {"codenames": (*VIEW, "set_breaker")},
    "a replayer who may not look": {
        "codenames": (
            "replay_deadletter",
            "discard_deadletter",
            "cancel_job",
            "pause_queue",
            "change_limit",
            "set_breaker",
        )
    },
    "an editor": {
        "codenames": tuple(
            f"{verb}_{model}"
            for verb in ("add", "change", "delete")
            for model in ("job", "deadletter", "auditentry", "worker")
        )
    },
    "a superuser": {"is_superuser": True},
}
VIEWERS = {
    "a viewer",
    "a replayer",
    "a discarder",
    "a canceller",
    "a pauser",
    "a limiter",
    "an electrician",
    "a superuser",
}
MAY = {
    "replay": {"a replayer", "a superuser"},
    "discard": {"a discarder", "a superuser"},
    "cancel": {"a canceller", "a superuser"},
    "force_stop": {"a canceller", "a superuser"},
    "resume": {"a pauser", "a superuser"},
    "clear": {"a limiter", "a superuser"},
    "open": {"an electrician", "a superuser"},
    "close": {"an electrician", "a superuser"},
}
ACTS = {
    "replay": "deadletter",
    "discard": "deadletter",
    "cancel": "job",
    "force_stop": "job",
    "resume": "pause",
    "clear": "limit",
    "open": "circuitbreaker",
    "close": "circuitbreaker",
}


@pytest.fixture
def rows(letter, job, worker, entry, pause, limit, breaker):
    """One row of each model."""
    return {
        "deadletter": letter(),
        "job": job(),
        "worker": worker(),
        "auditentry": entry(),
        "pause": pause(),
        "limit": limit(),
        "circuitbreaker": breaker(),
    }


@pytest.fixture
def visit(client, person):
    """Become somebody."""

    def become(who):
        if PEOPLE[who] is not None:
            flags = dict(PEOPLE[who])
            client.force_login(person("x", *flags.pop("codenames", ()), **flags))
        return client

    return become


def outcome(response):
    """Say `seen`, `refused` (403) or `login`."""
    if response.status_code == 302 and "/login/" in response.url:
        return "login"
    return {200: "seen", 302: "back", 403: "refused"}[response.status_code]


def stranger(who):
    return who in ("anonymous", "a visitor")


@pytest.mark.parametrize("who", PEOPLE)
def test_looking(visit, rows, who):
    """Lists, pages and histories are for those who may view; the permission to change includes nothing."""
    client = visit(who)
    expected = "login" if stranger(who) else "seen" if who in VIEWERS else "refused"

    for model, row in rows.items():
        base = f"{ADMIN}/{model}/"
        for address in (base, f"{base}{row.pk}/change/", f"{base}{row.pk}/history/"):
            assert outcome(client.get(address)) == expected, address


@pytest.mark.parametrize("who", PEOPLE)
def test_editing(visit, rows, who):
    """Nobody adds, changes or deletes anything by form, but for pauses and limits; nobody posts to a list or a page."""
    client = visit(who)
    adds = {f"{ADMIN}/pause/add/": MAY["resume"], f"{ADMIN}/limit/add/": MAY["clear"]}
    expected = "login" if stranger(who) else "refused"

    for model, row in rows.items():
        base = f"{ADMIN}/{model}/"
        posts = [base, f"{base}add/", f"{base}{row.pk}/change/", f"{base}{row.pk}/delete/"]
        gets = [f"{base}add/", f"{base}{row.pk}/delete/"]
        for address in posts:
            data = {"action": "delete_selected", "_selected_action": row.pk, "index": "0", "post": "yes", "status": "X"}
            may = who in adds.get(address, ())
            assert outcome(client.post(address, data)) == ("seen" if may else expected), address
        for address in gets:
            may = who in adds.get(address, ())
            assert outcome(client.get(address)) == ("seen" if may else expected), address
    assert_untouched(rows)


@pytest.mark.parametrize("name", ACTS)
@pytest.mark.parametrize("who", PEOPLE)
def test_acting_by_get(visit, rows, who, name):
    """A GET of an act changes nothing, whoever asks."""
    client, row = visit(who), rows[ACTS[name]]
    address = reverse(f"admin:django_jobqueue_{ACTS[name]}_{name}")

    answer = outcome(client.get(address, {"_selected_action": row.pk, "confirm": "1", "reason": "x"}))

    assert answer == ("login" if stranger(who) else "back" if who in MAY[name] else "refused")
    assert_untouched(rows)


@pytest.mark.parametrize("confirmed", [False, True])
@pytest.mark.parametrize("name", ACTS)
@pytest.mark.parametrize("who", PEOPLE)
def test_acting_by_post(visit, rows, who, name, confirmed):
    """An act is for those who have its own permission and may look; others are refused and nothing changes."""
    client, row = visit(who), rows[ACTS[name]]
    address = reverse(f"admin:django_jobqueue_{ACTS[name]}_{name}")
    data = {"_selected_action": row.pk, "reason": "x"} | ({"confirm": "1"} if confirmed else {})

    answer = outcome(client.post(address, data))

    if who in MAY[name]:
        assert answer == ("back" if confirmed else "seen")
    else:
        assert answer == ("login" if stranger(who) else "refused")
    if not (who in MAY[name] and confirmed):
        assert_untouched(rows)


@pytest.mark.parametrize("who", PEOPLE)
def test_pausing(visit, rows, who):
    """To pause takes the permission to, and to see what is paused; others are refused and nothing changes."""
    client = visit(who)
    form = {"kind": "queue", "target": "reports", "reason": "a move"}

    answer = outcome(client.post(f"{ADMIN}/pause/add/", form))

    if who in MAY["resume"]:
        assert answer == "back"
        assert Pause.objects.get(target="reports").reason == "a move"
    else:
        assert answer == ("login" if stranger(who) else "refused")
        assert_untouched(rows)


@pytest.mark.parametrize("who", PEOPLE)
def test_limiting(visit, rows, who):
    """To set a limit takes the permission to, and to see limits; others are refused and nothing changes."""
    client = visit(who)
    form = {"kind": "queue", "target": "reports", "at_once": "3", "reason": "a move"}

    answer = outcome(client.post(f"{ADMIN}/limit/add/", form))

    if who in MAY["clear"]:
        assert answer == "back"
        assert Limit.objects.get(target="reports").at_once == 3
    else:
        assert answer == ("login" if stranger(who) else "refused")
        assert_untouched(rows)


@pytest.mark.parametrize("who", sorted(VIEWERS))
def test_buttons(visit, rows, who):
    """A person sees the buttons that work for them, and no others."""
    client = visit(who)
    letter_page = f"{ADMIN}/deadletter/{rows['deadletter'].pk}/change/"
    job_page = f"{ADMIN}/job/{rows['job'].pk}/change/"

    for address, names in (
        (f"{ADMIN}/deadletter/", ("replay", "discard")),
        (letter_page, ("replay", "discard")),
        (job_page, ("cancel",)),
        (f"{ADMIN}/pause/", ("resume",)),
        (f"{ADMIN}/pause/{rows['pause'].pk}/change/", ("resume",)),
        (f"{ADMIN}/limit/", ("clear",)),
        (f"{ADMIN}/limit/{rows['limit'].pk}/change/", ("clear",)),
        (f"{ADMIN}/circuitbreaker/", ("open", "close")),
        (f"{ADMIN}/circuitbreaker/{rows['circuitbreaker'].pk}/change/", ("open", "close")),
    ):
        page = client.get(address).content.decode()
        for name in names:
            assert (f"/{name}/" in page) == (who in MAY[name]), (address, name)
    has_boxes = "jq-choose" in client.get(f"{ADMIN}/deadletter/").content.decode()
    assert has_boxes == (who in MAY["replay"] | MAY["discard"])
    assert ("/limit/add/" in client.get(f"{ADMIN}/limit/").content.decode()) == (who in MAY["clear"])
    assert ("/pause/add/" in client.get(f"{ADMIN}/pause/").content.decode()) == (who in MAY["resume"])


def test_no_address_is_left_out():
    """The table above covers every address of these models."""
    names = [name for name in get_resolver("tests.admin.names").reverse_dict if isinstance(name, str)]
    own = {name.removeprefix("django_jobqueue_") for name in names if name.startswith("django_jobqueue_")}

    usual = {
        f"{m}_{p}"
        for m in ("job", "deadletter", "auditentry", "worker", "pause", "limit", "circuitbreaker")
        for p in ("changelist", "add", "history", "delete", "change")
    }
    assert own == usual | {f"{model}_{name}" for name, model in ACTS.items()}


def test_links_need_permission_too(client, person, letter):
    """Who may see letters but not jobs is offered no link to a job."""
    made = letter()
    client.force_login(person("x", "view_deadletter"))

    page = client.get(f"{ADMIN}/deadletter/{made.pk}/change/").content.decode()

    assert f"/job/{made.job_id}/" not in page


def test_the_link_to_the_pauses_needs_permission_too(client, person, job, pause):
    """Who may see jobs but not pauses is told why one waits, and offered no link."""
    pause()
    made = job(queue_name="mail")
    client.force_login(person("x", "view_job"))

    for address in (f"{ADMIN}/job/", f"{ADMIN}/job/{made.pk}/change/"):
        page = client.get(address).content.decode()
        assert "Paused" in page
        assert "/django_jobqueue/pause/" not in page


def assert_untouched(rows):
    assert DeadLetter.objects.get().status == "OPEN"
    assert Job.objects.get(pk=rows["job"].pk).status == "READY"
    assert AuditEntry.objects.count() == 1
    assert [pause.target for pause in Pause.objects.all()] == ["mail"]
    assert [limit.target for limit in Limit.objects.all()] == ["mail"]
