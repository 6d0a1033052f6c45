"""The daily page: what failed for good, and the two answers to it."""

import re
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection, transaction
from django.db.models.functions import Now
from django.test import Client

from django_jobqueue import operations
from django_jobqueue.admin.reasons import explain
from django_jobqueue.exceptions import Refused
from django_jobqueue.models import AuditEntry, DeadLetter
from django_jobqueue.policy.lifecycle import Reason
from tests.races import race

from .conftest import ADMIN

LIST = f"{ADMIN}/deadletter/"


def ids_shown(response):
    return [row.pk for row in response.context["cl"].result_list]


def status_of(*letters):
    return [DeadLetter.objects.get(pk=letter.pk).status for letter in letters]


def act(client, name, *letters, **more):
    """Confirm an act, and follow it back to the list."""
    data = {"_selected_action": [letter.pk for letter in letters], "confirm": "1"} | more
    return client.post(f"{LIST}{name}/", data, follow=True)


def message(response):
    """Read the messages off the page; the test client's contexts mix those of parallel requests."""
    listed = re.search(r'<ul class="messagelist">(.*?)</ul>', response.content.decode(), re.DOTALL)
    return re.findall(r"<li[^>]*>(.*?)</li>", listed[1], re.DOTALL) if listed else []


# --- The list


def test_list_tells_letters_apart(boss, letter):
    """A row names task, error, reason, attempts, arguments, owner and status."""
    letter(
        attempt={"exception_class": "requests.exceptions.ReadTimeout", "message": "timed out\nafter 10 s"},
        args=[7],
        kwargs={"to": "ada"},
        reason="not_retryable",
        owner="payments",
    )

    page = boss.get(LIST).content.decode()

    for fact in ("charge", "shop.tasks", "ReadTimeout", "timed out", "Not retryable", "payments", "Open"):
        assert fact in page
    assert "7, to=&quot;ada&quot;" in page
    assert "after 10 s" not in page


def test_open_ones_unless_asked_for_others(boss, letter):
    """The list begins with what is left to do; every status has a tab."""
    made = {status: letter(status=status).pk for status in DeadLetter.Status.values}

    assert ids_shown(boss.get(LIST)) == [made["OPEN"]]
    for status, pk in made.items():
        assert ids_shown(boss.get(LIST, {"status": status})) == [pk]
    assert sorted(ids_shown(boss.get(LIST, {"status": "all"}))) == sorted(made.values())


def test_latest_death_first(boss, letter):
    """A letter that opens again comes to the top, wherever its first death put it."""
    old, new = letter(died_in=-500), letter(died_in=-100)
    assert ids_shown(boss.get(LIST)) == [new.pk, old.pk]

    DeadLetter.objects.filter(pk=old.pk).update(last_died_at=Now(), deaths=2)

    assert ids_shown(boss.get(LIST)) == [old.pk, new.pk]
    assert "2 deaths since" in boss.get(LIST).content.decode()


def test_pages_turn_through_equal_times(boss, letter, monkeypatch):
    """Letters that died in the same moment are all listed, once each."""
    monkeypatch.setattr("django_jobqueue.admin.dead_letters.DeadLetterAdmin.list_per_page", 2)
    made = [letter().pk for _ in range(5)]
    DeadLetter.objects.update(last_died_at=Now() - timedelta(microseconds=123_457))

    seen, response = [], boss.get(LIST)
    seen += ids_shown(response)
    while url := response.context["cl"].older_url:
        response = boss.get(LIST + url)
        seen += ids_shown(response)

    assert seen == made[::-1]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"reason": "expired"}, True),
        ({"owner": "payments"}, True),
        ({"task": "shop.tasks.charge"}, True),
        ({"q": "task:shop."}, True),
        ({"q": "CHARGE"}, True),
        ({"reason": "rejected"}, False),
        ({"owner": "growth"}, False),
        ({"owner": "payments", "task": "other"}, False),
        ({"q": "nothing like it"}, False),
    ],
)
def test_filters(boss, letter, query, found):
    """Letters are found by reason, owner and task."""
    wanted = letter(reason="expired", owner="payments")

    assert ids_shown(boss.get(LIST, query)) == ([wanted.pk] if found else [])


def test_found_by_the_id_of_the_job(boss, letter):
    """Logs name jobs; a search for a number finds the letter of that job."""
    letter()
    wanted = letter()

    assert ids_shown(boss.get(LIST, {"q": wanted.job_id})) == [wanted.pk]


def test_nothing_left_to_do(boss, db):
    """An empty list says so."""
    assert "All is well" in boss.get(LIST).content.decode()


@pytest.mark.parametrize("query", [{"q": "nothing like it"}, {"q": "999999"}, {"reason": "rejected"}])
def test_a_search_that_finds_nothing_says_no_more(boss, letter, query):
    """Where a search or a filter finds nothing there may be letters all the same."""
    letter()

    page = boss.get(LIST, query).content.decode()

    assert "Nothing matches." in page
    assert "All is well" not in page


# --- The page


def test_page_begins_with_the_error(boss, letter):
    """A letter's page shows class, message and traceback before anything else, then the reason and what to do."""
    made = letter(
        attempt={"exception_class": "KeyError", "message": "no customer 7", "traceback": "in charge\n  raise KeyError"},
        reason="not_retryable",
    )

    page = boss.get(f"{LIST}{made.pk}/change/").content.decode()

    order = ["no customer 7", "in charge", "Not retryable", "no further attempt would cure", "Arguments"]
    places = [page.index(words) for words in order]
    assert places == sorted(places)
    assert re.search(r"<details open>\s*<summary>Traceback of attempt 3", page)


def test_page_tells_the_history(boss, letter):
    """A letter's page lists what people did to it, with who and why."""
    made = letter()
    operations.discard(made, by="grace", reason="the customer is gone")

    page = boss.get(f"{LIST}{made.pk}/change/").content.decode()

    assert page.index("What people did") < page.index("grace") < page.rindex("the customer is gone")


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_its_words(reason):
    """Each reason of the policy is explained, with what to do."""
    assert explain(reason) is not explain("no such reason")


@pytest.mark.parametrize(
    ("status", "buttons"),
    [
        ("OPEN", ["Replay…", "Discard…"]),
        ("DISCARDED", ["Replay…"]),
        ("REPLAYED", []),
        ("RESOLVED", []),
    ],
)
def test_buttons_fit_the_state(boss, letter, status, buttons):
    """A letter's page offers what its state allows."""
    made = letter(status=status)

    page = boss.get(f"{LIST}{made.pk}/change/").content.decode()

    assert [button for button in ("Replay…", "Discard…") if button in page] == buttons


# --- The acts


@pytest.mark.parametrize("name", ["replay", "discard"])
def test_asking_changes_nothing(boss, letter, name):
    """The first POST answers with what would happen, to how many, and five examples; nothing has happened."""
    letters = [letter() for _ in range(7)]

    response = boss.post(f"{LIST}{name}/", {"_selected_action": [x.pk for x in letters]})

    page = response.content.decode()
    assert f"{name.capitalize()} 7 dead letters" in page
    assert len(response.context["examples"]) == 5
    assert "and 2 more" in page
    assert set(status_of(*letters)) == {"OPEN"}
    assert not AuditEntry.objects.exists()


def test_replay(boss, letter, django_capture_on_commit_callbacks):
    """A replay makes the job ready, is audited in the person's name, logged by the admin, and told."""
    made = letter()

    with django_capture_on_commit_callbacks(execute=True):
        response = act(boss, "replay", made, reason="the bank is back")

    assert status_of(made) == ["REPLAYED"]
    made.job.refresh_from_db()
    assert made.job.status == "READY"
    audited = AuditEntry.objects.get()
    assert (audited.actor, audited.action, audited.reason) == ("boss", "replay", "the bank is back")
    assert LogEntry.objects.get().change_message == "replayed: the bank is back"
    assert message(response) == ["1 dead letter replayed."]


def test_replay_needs_no_reason(boss, letter):
    """A replay without a reason is audited with one that says where it came from."""
    act(boss, "replay", letter())

    assert AuditEntry.objects.get().reason == "Replayed in the admin"


@pytest.mark.parametrize("reason", ["", "   ", "x\x00y"])
def test_discard_needs_a_reason(boss, letter, reason):
    """Without a reason that can be stored, a discard asks again and changes nothing."""
    made = letter()

    response = act(boss, "discard", made, reason=reason)

    assert "errorlist" in response.content.decode()
    assert status_of(made) == ["OPEN"]


def test_discard(boss, letter):
    """A discard closes the letter and keeps the reason as its note."""
    made = letter()

    response = act(boss, "discard", made, reason="the customer is gone")

    assert status_of(made) == ["DISCARDED"]
    assert DeadLetter.objects.get().note == "the customer is gone"
    assert message(response) == ["1 dead letter discarded."]


def test_one_refusal_does_not_stop_the_others(boss, letter):
    """Of several letters those that can be replayed are; the others are counted, with the reason."""
    three, done = [letter() for _ in range(3)], letter(status="REPLAYED")

    response = act(boss, "replay", done, *three)

    assert set(status_of(*three)) == {"REPLAYED"}
    assert message(response) == ["3 dead letters replayed, 1 refused: already replayed."]


def test_one_breakdown_does_not_stop_the_others(boss, letter, by_hand):
    """A letter whose job cannot even be loaded is counted as failed; the others are replayed."""
    broken, sound = letter(), letter()
    by_hand("UPDATE django_jobqueue_job SET enqueued_at = '20000-01-01' WHERE id = %s", broken.job_id)

    response = act(boss, "replay", broken, sound)

    assert status_of(sound) == ["REPLAYED"]
    assert message(response)[0].startswith("1 dead letter replayed, 1 refused:")


@pytest.mark.parametrize("chosen", [[], ["abc"], ["-1"], ["9" * 50], ["1; DROP TABLE"]])
def test_nothing_chosen(boss, letter, chosen):
    """Without a row, or with what is no row's id, an act does nothing and says so."""
    made = letter()

    response = boss.post(f"{LIST}replay/", {"_selected_action": chosen, "confirm": "1"}, follow=True)

    assert "Nothing was chosen" in message(response)[0]
    assert status_of(made) == ["OPEN"]


def test_letter_that_is_gone(boss, letter):
    """A letter that was pruned in between is refused, as others are."""
    made = letter()
    DeadLetter.objects.all().delete()

    assert "Refused: there is no dead letter" in message(act(boss, "replay", made))[0]


def test_back_to_the_same_list(boss, letter):
    """After an act the list has the filters it had; nothing else in the request decides where one goes."""
    made = letter()
    data = {"_selected_action": made.pk, "confirm": "1", "_changelist_filters": "owner=payments&q=x", "next": "//evil"}

    response = boss.post(f"{LIST}replay/", data)

    assert urlsplit(response.url).path == LIST
    assert parse_qs(urlsplit(response.url).query) == {"owner": ["payments"], "q": ["x"]}


def test_filters_cannot_lead_elsewhere(boss, letter):
    """What poses as filters ends up behind the question mark, encoded."""
    data = {"_selected_action": letter().pk, "confirm": "1", "_changelist_filters": "//evil.example/\r\nX: y"}

    response = boss.post(f"{LIST}replay/", data)

    assert urlsplit(response.url).netloc == ""
    assert urlsplit(response.url).path == LIST
    assert "\n" not in response.url


def test_get_of_an_act_changes_nothing(boss, letter):
    """Following a link to an act leads back to the list."""
    made = letter()

    response = boss.get(f"{LIST}replay/", {"_selected_action": made.pk, "confirm": "1", "reason": "x"})

    assert response.status_code == 302
    assert status_of(made) == ["OPEN"]


def test_without_csrf_token(person, letter):
    """A POST without the token is refused, confirmed or not."""
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(person("boss", is_superuser=True))
    made = letter()

    for name in ("replay", "discard"):
        data = {"_selected_action": made.pk, "confirm": "1", "reason": "x"}
        assert strict.post(f"{LIST}{name}/", data).status_code == 403

    assert status_of(made) == ["OPEN"]


def test_log_entry_is_a_courtesy(boss, letter, django_capture_on_commit_callbacks, monkeypatch):
    """If the admin's own log cannot be written, the replay stands and the page is fine."""
    made = letter()
    monkeypatch.setattr(LogEntry.objects, "bulk_create", lambda entries: 1 / 0)

    with django_capture_on_commit_callbacks(execute=True):
        response = act(boss, "replay", made)

    assert response.status_code == 200
    assert status_of(made) == ["REPLAYED"]


@pytest.mark.django_db(transaction=True)
def test_double_click(person, letter):
    """Of ten parallel confirmations for one letter one replays; the nine others are told."""
    boss, made = person("boss", is_superuser=True), letter()
    clients = [Client() for _ in range(10)]
    for client in clients:
        client.force_login(boss)

    answers = race(*(lambda client=client: message(act(client, "replay", made))[0] for client in clients))

    assert answers.count("1 dead letter replayed.") == 1
    assert sum("was already replayed" in answer for answer in answers) == 9
    assert AuditEntry.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_race_with_code(person, letter):
    """A replay from code and one from the admin at the same moment: one of them wins, the other is told."""
    boss, made = person("boss", is_superuser=True), letter()
    client = Client()
    client.force_login(boss)

    def from_code():
        with transaction.atomic():
            operations.replay(made.pk, by="script", reason="")
        return "replayed"

    answers = race(lambda: message(act(client, "replay", made))[0], from_code)

    assert AuditEntry.objects.count() == 1
    assert (answers[0] == "1 dead letter replayed.") + (answers[1] == "replayed") == 1


def test_requests_in_a_transaction(boss, letter, settings):
    """With ATOMIC_REQUESTS a refusal among others takes nothing back."""
    sound, done = letter(), letter(status="REPLAYED")
    connection.settings_dict["ATOMIC_REQUESTS"] = True
    try:
        act(boss, "replay", done, sound)
    finally:
        connection.settings_dict["ATOMIC_REQUESTS"] = False

    assert status_of(sound) == ["REPLAYED"]
    with pytest.raises(Refused):
        operations.replay(sound, by="me", reason="")
