"""Decorators between a task and its function: hints, templates and hidden names belong to the arguments of the call."""

import inspect
from functools import wraps
from uuid import UUID

import pytest

from django_jobqueue import shown, task
from django_jobqueue.exceptions import InvalidOptions, InvalidPayload
from django_jobqueue.models import Job
from django_jobqueue.operations import replay
from django_jobqueue.testing import assert_enqueued, run_jobs
from tests.factories import make_dead_letter

pytestmark = pytest.mark.django_db

INVOICE = UUID("00000000-0000-0000-0000-000000000042")


def passing_on(function):
    """Add nothing, as most do."""

    @wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def giving_a_client(function):
    """Give a first argument, and not say what is left."""

    @wraps(function)
    def wrapper(*args, **kwargs):
        return function("a client", *args, **kwargs)

    return wrapper


def giving_a_client_by_name(function):
    """Give a first argument, and name what is left."""

    @wraps(function)
    def wrapper(invoice, iban="", **more):
        return function("a client", invoice, iban, **more)

    return wrapper


def giving_a_client_by_signature(function):
    """Give a first argument, and tell what is left as libraries do."""
    wrapper = giving_a_client(function)
    signature = inspect.signature(function)
    wrapper.__signature__ = signature.replace(parameters=[*signature.parameters.values()][1:])
    return wrapper


def for_tenant(function):
    """Take an argument of its own before those that it passes on, and one that goes by name."""

    @wraps(function)
    def wrapper(tenant, *args, dry=False, **kwargs):
        return [tenant, dry, *function(*args, **kwargs)]

    return wrapper


OPTIONS = {"unique_key": "invoice:{invoice}", "sensitive": ("iban",)}


@task(**OPTIONS)
@passing_on
def passed_on(invoice: UUID, iban: str = "", *, note: str = ""):
    """Return what arrived."""
    return [str(type(invoice)), iban, note]


@task(**OPTIONS)
@giving_a_client
def given(client: str, invoice: UUID, iban: str = "", *, note: str = ""):
    """Return what arrived."""
    return [str(type(invoice)), iban, note]


@task(**OPTIONS)
@giving_a_client_by_name
def named(client: str, invoice: UUID, iban: str = "", *, note: str = ""):
    """Return what arrived."""
    return [str(type(invoice)), iban, note]


@task(**OPTIONS)
@giving_a_client_by_signature
def signed(client: str, invoice: UUID, iban: str = "", *, note: str = ""):
    """Return what arrived."""
    return [str(type(invoice)), iban, note]


@task(**OPTIONS)
@passing_on
@for_tenant
def of_a_tenant(invoice: UUID, iban: str = "", *, note: str = ""):
    """Return what arrived."""
    return [str(type(invoice)), iban, note]


@task
@giving_a_client
def plainly_given(client, a):
    """Return what was given."""
    return [client, a]


@task
@giving_a_client
def given_a_secret(client, password):
    """Take what is hidden by its name."""


@pytest.mark.parametrize("decorated", [passed_on, named, signed], ids=["passing on", "named", "signed"])
@pytest.mark.parametrize("by_place", [True, False])
def test_names_are_those_of_the_call(decorated, by_place):
    """By place and by name alike: the type arrives, the key is that of the invoice, and what is sensitive is hidden."""
    result = (
        decorated.enqueue(INVOICE, "DE42", note="n")
        if by_place
        else decorated.enqueue(iban="DE42", invoice=INVOICE, note="n")
    )
    job = Job.objects.get()

    assert job.unique_key == f"invoice:{INVOICE}"
    assert "DE42" not in str(shown.veil_of(decorated).arguments(job.args, job.kwargs))
    assert assert_enqueued(decorated, INVOICE, "DE42", note="n") == job
    run_jobs(check=True)
    assert decorated.get_result(result.id).return_value == ["<class 'uuid.UUID'>", "DE42", "n"]


@pytest.mark.parametrize("by_place", [True, False])
def test_what_a_decorator_names_before_it_passes_on_comes_first(by_place):
    """Its own arguments shift those of the function: the key, the type and what is hidden are those of the others."""
    result = (
        of_a_tenant.enqueue("acme", INVOICE, "DE42", dry=True, note="n")
        if by_place
        else of_a_tenant.enqueue(note="n", iban="DE42", invoice=INVOICE, dry=True, tenant="acme")
    )
    job = Job.objects.get()

    assert job.unique_key == f"invoice:{INVOICE}"
    said = str(shown.veil_of(of_a_tenant).arguments(job.args, job.kwargs))
    assert "DE42" not in said
    assert "acme" in said
    assert assert_enqueued(of_a_tenant, "acme", INVOICE, iban="DE42", dry=True, note="n") == job
    run_jobs(check=True)
    arrived = ["acme", True, "<class 'uuid.UUID'>", "DE42", "n"]
    assert of_a_tenant.get_result(result.id).return_value == arrived


def test_calls_that_differ_behind_an_argument_of_the_decorator_are_two():
    """The second invoice of a tenant is no second call for the first; one of another tenant is what the key says."""
    keys = [task(unique_key=key)(of_a_tenant.func) for key in ("invoice:{invoice}", "{tenant}:{invoice}", "{dry}")]
    calls = [("acme", INVOICE), ("acme", UUID(int=2)), ("zeta", INVOICE)]

    created = [[declared.enqueue(*call).created for call in calls] for declared in keys]

    assert created == [[True, True, False], [True, True, True], [True, False, False]]


def test_a_context_is_the_same_under_another_name():
    """A decorator that names it otherwise passes it on all the same: it is no argument of the call."""
    with pytest.raises(InvalidPayload, match="cannot be told apart"):
        renamed_context.enqueue(1, 2)
    result = renamed_context.enqueue(7)

    assert Job.objects.get().unique_key == "invoice:7"
    run_jobs(check=True)
    assert renamed_context.get_result(result.id).return_value == [1, 7]


def naming_it_otherwise(function):
    """Take the context by another name."""

    @wraps(function)
    def wrapper(ctx, *args, **kwargs):
        return function(ctx, *args, **kwargs)

    return wrapper


def for_any_tenant(function):
    """Take an argument that may be left out."""

    @wraps(function)
    def wrapper(tenant="acme", *args, **kwargs):
        return [tenant, *function(*args, **kwargs)]

    return wrapper


@task(sensitive=("iban",))
@for_any_tenant
def pay_of_any(iban):
    """Return what arrived."""
    return [iban]


def test_behind_an_argument_that_may_be_left_out_names_are_asked_for():
    """A value that is to be hidden has no place of its own there."""
    with pytest.raises(InvalidPayload, match="cannot be told apart"):
        pay_of_any.enqueue("acme", "DE42")
    result = pay_of_any.enqueue("zeta", iban="DE42")

    job = Job.objects.get()
    assert "DE42" not in str(shown.veil_of(pay_of_any).arguments(job.args, job.kwargs))
    run_jobs(check=True)
    assert pay_of_any.get_result(result.id).return_value == ["zeta", "DE42"]


@task(takes_context=True, unique_key="invoice:{invoice}")
@naming_it_otherwise
def renamed_context(context, invoice):
    """Return what arrived."""
    return [context.attempt, invoice]


@pytest.mark.parametrize("args", [(INVOICE,), (str(INVOICE), "DE42")])
def test_arguments_that_cannot_be_named_are_refused(args):
    """A decorator that takes anything and gives arguments of its own does not say which is which."""
    with pytest.raises(InvalidPayload) as refused:
        plain_given.enqueue(*args)

    words = str(refused.value)
    assert words.startswith("args: cannot be told apart: a decorator of plain_given() takes any, and the function does")
    assert "(args and kwargs: plain_given() needs" in words
    assert "pass them by name" in words


@task(**OPTIONS)
@giving_a_client
def plain_given(client, invoice, iban, note):
    """Need all of them."""


@pytest.mark.parametrize("why", [{"unique_key": "a:{a}"}, {"sensitive": ("a",)}])
def test_one_reason_is_enough(why):
    """A template alone, and a sensitive name alone."""
    with pytest.raises(InvalidPayload, match="cannot be told apart"):
        task(**why)(plainly_given.func).enqueue(5)


def test_by_name_they_can():
    """Names are not shifted by anything."""
    result = given.enqueue(invoice=INVOICE, iban="DE42")
    job = Job.objects.get()

    assert job.unique_key == f"invoice:{INVOICE}"
    run_jobs(check=True)
    assert given.get_result(result.id).return_value == ["<class 'uuid.UUID'>", "DE42", ""]


def test_where_nothing_depends_on_names_places_will_do():
    """No hint, template or sensitive name: the call goes to what the decorator has made of the function."""
    result = plainly_given.enqueue(5)

    run_jobs(check=True)
    assert plainly_given.get_result(result.id).return_value == ["a client", 5]


def test_a_name_that_is_hidden_by_itself_counts_as_sensitive():
    """The value would be shown under the name of another one."""
    with pytest.raises(InvalidPayload, match="cannot be told apart"):
        given_a_secret.enqueue("hunter2")
    given_a_secret.enqueue(password="hunter2")


def test_arguments_of_a_replay_are_judged_alike():
    """A person may give them by name."""
    letter = make_dead_letter(task=plain_given.module_path)
    with pytest.raises(InvalidPayload, match="cannot be told apart"):
        replay(letter, by="ada", reason="", args=[1])

    assert replay(letter, by="ada", reason="", args=[], kwargs={"invoice": 1, "iban": "", "note": ""}).status == "READY"


def test_a_template_names_what_the_call_may_hold():
    """What a decorator gives is no argument of the call, where the decorator says what is left."""
    with pytest.raises(InvalidOptions, match=r"unique_key names \{client\}, which signed\(\) does not take"):
        task(unique_key="client:{client}")(signed.func)
