"""Secrets of every kind that the guard knows, planted in a job, and every place where a job is shown."""

import html
import io
import json

from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.urls import reverse

from django_jobqueue.models import AuditEntry, DeadLetter, Job, Worker

PERSON = "Ada Lovelace of St James Square"
PASSWORD = "correct horse battery staple"
TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
SETTING = "Tr0ub4dor&3 <of the partner>"
LOOKED_UP = "zq-looked-up-51c2 <&> \"'é"
"""What a reference stands for; no name, shape or setting gives it away."""
SECRETS = {
    "named by the task": PERSON,
    "under the name of a secret": PASSWORD,
    "of a known shape": TOKEN,
    "of the settings": SETTING,
}
SETTINGS = {"SHOP_PARTNER_API_KEY": SETTING}

ARGS = [PERSON]
KWARGS = {
    "options": {"deep": [{"password": PASSWORD}, {"person": PERSON}]},
    "note": f"log in with {TOKEN} or {SETTING}",
    "more": [PERSON, {TOKEN: SETTING}],
}


def leaks(places, secrets=SECRETS):
    """Name the secrets that can be read, and where."""
    found = []
    for place, shown in places.items():
        words = {shown, html.unescape(shown), shown.replace("\\n", "\n").replace('\\"', '"')}
        found += [f"{kind}: {place}" for kind, secret in secrets.items() if any(secret in form for form in words)]
    return found


def pages(client):
    """Get each page of the admin on which these rows are shown: lists, their own, and what asks before an act."""
    shown = {}

    def get(address, **query):
        response = client.get(address, query)
        assert response.status_code == 200, address
        shown[f"{address} {query or ''}"] = response.content.decode()

    get(reverse("admin:index"))
    for model in (Job, DeadLetter, AuditEntry, Worker):
        name = f"admin:django_jobqueue_{model._meta.model_name}"
        get(reverse(f"{name}_changelist"))
        get(reverse(f"{name}_changelist"), q="stage")
        for row in model.objects.values_list("pk", flat=True):
            get(reverse(f"{name}_change", args=[row]))
            get(reverse(f"{name}_history", args=[row]))
    get(reverse("admin:django_jobqueue_deadletter_changelist"), status="all")
    for name, model in (("replay", DeadLetter), ("discard", DeadLetter), ("cancel", Job), ("force_stop", Job)):
        address = reverse(f"admin:django_jobqueue_{model._meta.model_name}_{name}")
        asked = client.post(address, {"_selected_action": list(model.objects.values_list("pk", flat=True))})
        assert asked.status_code == 200, address
        shown[address] = asked.content.decode()
    return shown


def commands():
    """Run each command that shows a job, for a person and for a program."""
    lines = [["stats"], ["stats", "--by-task"], ["jobs", "list"], ["dead", "list", "--status", "all"]]
    lines += [["jobs", "show", str(pk)] for pk in Job.objects.values_list("pk", flat=True)]
    lines += [["dead", "show", str(pk)] for pk in DeadLetter.objects.values_list("pk", flat=True)]
    shown = {}
    for line in [*lines, *[[*line, "--json"] for line in lines]]:
        out = io.StringIO()
        call_command("jobqueue", *line, stdout=out)
        shown["jobqueue " + " ".join(line)] = out.getvalue()
        if "--json" in line:
            # As a program reads it: what is escaped in the text is not in the values.
            shown["read from jobqueue " + " ".join(line)] = "\n".join(_texts(json.loads(out.getvalue())))
    return shown


def rows():
    """Read every row of the app, as text."""
    stored = {}
    for model in apps.get_app_config("django_jobqueue").get_models():
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT t::text FROM {model._meta.db_table} t")
            stored[f"rows of {model.__name__}"] = "\n".join(row for (row,) in cursor.fetchall())
    return stored


def _texts(value):
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    else:
        yield str(value)
