"""The acts of a list answer to a POST of the shape that Django's own actions have."""

import pytest
from django.urls import reverse

from django_jobqueue.models import DeadLetter
from tests.factories import make_dead_letter

pytestmark = pytest.mark.django_db

LIST = reverse("admin:django_jobqueue_deadletter_changelist")


def test_an_action_asks_first(admin_client):
    """POST action=replay with chosen rows shows the confirmation, and changes nothing."""
    letter = make_dead_letter()
    response = admin_client.post(LIST, {"action": "replay", "_selected_action": [letter.pk]})

    assert response.status_code == 200
    assert b"becomes ready again" in response.content
    assert DeadLetter.objects.get().status == "OPEN"


@pytest.mark.parametrize(("action", "status"), [("replay", "REPLAYED"), ("discard", "DISCARDED")])
def test_a_confirmed_action_acts(admin_client, action, status):
    """With post=yes, and a reason, the verb is carried out."""
    letter = make_dead_letter()
    data = {"action": action, "_selected_action": [letter.pk], "post": "yes", "reason": "as agreed"}
    response = admin_client.post(LIST, data)

    assert response.status_code == 302
    assert DeadLetter.objects.get().status == status


def test_an_unknown_action_is_refused(admin_client):
    """A name that is none of the list's acts is 403."""
    assert admin_client.post(LIST, {"action": "delete_selected", "_selected_action": ["1"]}).status_code == 403


def test_an_action_needs_its_permission(client, django_user_model):
    """Who may only view the letters may not replay them this way either."""
    from django.contrib.auth.models import Permission

    user = django_user_model.objects.create_user("viewer", password="x", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_deadletter"))
    client.force_login(user)
    letter = make_dead_letter()

    data = {"action": "replay", "_selected_action": [letter.pk], "post": "yes"}
    assert client.post(LIST, data).status_code == 403
    assert DeadLetter.objects.get().status == "OPEN"
