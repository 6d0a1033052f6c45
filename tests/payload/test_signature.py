"""The signature: whatever Python would refuse at the call is refused at the enqueue, and nothing else is."""

import inspect
from functools import wraps
from itertools import product
from types import FunctionType

import pytest

from django_jobqueue.exceptions import InvalidPayload
from django_jobqueue.payload.signature import named_signature, signature_of


def none(): ...
def one(a): ...
def optional(a, b=1): ...
def only_named(*, a, b=1): ...
def only_placed(a, b=1, /): ...
def mixed(a, /, b, *, c, d=1): ...
def many(*rest): ...
def anything(a, *rest, b=1, **others): ...
def others(a=1, **others): ...


FUNCTIONS = [none, one, optional, only_named, only_placed, mixed, many, anything, others]
ARGS = [(), (1,), (1, 2), (1, 2, 3)]
KWARGS = [dict.fromkeys(names, 1) for names in ("", "a", "b", "ab", "c", "bc", "abcd", "z")]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_it_refuses_what_python_refuses(function):
    """For every kind of parameter, and every mix of arguments, the answer is that of the call itself."""
    for args, kwargs in product(ARGS, KWARGS):
        try:
            inspect.signature(function).bind(*args, **kwargs)
            fits = True
        except TypeError:
            fits = False
        try:
            signature_of(function, takes_context=False).require_fit(args, kwargs)
            said = True
        except InvalidPayload:
            said = False
        assert said is fits, (args, kwargs)


def injecting(function):
    """Give a function its first argument, as decorators of projects do."""

    @wraps(function)
    def wrapper(*args, **kwargs):
        return function("a client", *args, **kwargs)

    return wrapper


@injecting
def injected(client, a): ...


def test_what_a_decorator_takes_is_what_counts():
    """A decorator may give arguments of its own: the call goes to what it has made of the function."""
    signature_of(injected, takes_context=False).require_fit((1,), {})
    signature_of(injected, takes_context=False).require_fit((), {"a": 1})


@pytest.mark.parametrize(
    ("function", "args", "kwargs", "words"),
    [
        (none, (1,), {}, "args[0]: is an argument too many; none() takes none"),
        (optional, (1, 2, 3), {}, "args[2]: is an argument too many; optional() takes 2 at most (a, b)"),
        (optional, (), {"b": 1}, "args and kwargs: optional() needs a"),
        (mixed, (), {}, "args and kwargs: mixed() needs a, b, c"),
        (one, (1,), {"a": 2}, "kwargs['a']: is given twice; it is args[0] too"),
        (one, (1,), {"aa": 2}, "kwargs['aa']: is no argument of one(); did you mean 'a'?"),
        (one, (1,), {"zzz": 2}, "kwargs['zzz']: is no argument of one(); it takes a"),
        (only_placed, (), {"a": 1}, "kwargs['a']: cannot be named; it is argument 1 of only_placed()"),
    ],
)
def test_the_place_is_named(function, args, kwargs, words):
    """The error says which argument it is about, and what the function takes."""
    with pytest.raises(InvalidPayload) as error:
        signature_of(function, takes_context=False).require_fit(args, kwargs)

    assert str(error.value) == words
    assert words.startswith(error.value.path + ": ")


def test_the_first_parameter_may_be_the_context():
    """What a worker gives by itself is none of the caller's arguments."""
    signature = signature_of(optional, takes_context=True)
    signature.require_fit((1,), {})
    signature.require_fit((), {})

    with pytest.raises(InvalidPayload, match="takes 1 at most"):
        signature.require_fit((1, 2), {})


def f(invoice, iban, note=""): ...
def g(*, tenant, invoice): ...
def h(invoice, /, iban="", *rest, note, **more): ...
def i(tenant, invoice, note=""): ...
def j(args, kwargs): ...


def tenant_first(tenant, *args, **kwargs): ...
def tenant_only(tenant, /, *args, dry=False): ...
def tenant_by_default(tenant="acme", *args, **kwargs): ...
def iban_by_name(*args, iban, **kwargs): ...
def invoice_by_name(*args, invoice, **kwargs): ...
def named_alone(tenant, *, dry=False, **kwargs): ...
def invoice_second(tenant, invoice, *args, **kwargs): ...


@pytest.mark.parametrize(
    ("wrapper", "function", "names"),
    [
        (tenant_first, f, "(tenant, invoice, iban, note='')"),
        (tenant_first, g, "(tenant, *, invoice)"),
        (tenant_first, h, "(tenant, invoice, iban='', *rest, note, **more)"),
        (tenant_first, i, "(tenant, invoice, note='')"),
        (tenant_only, f, "(tenant, /, invoice, iban, note='', *, dry=False)"),
        (tenant_first, j, "(tenant, args, kwargs)"),
        (tenant_only, h, "(tenant, invoice, /, iban='', *rest, dry=False, note)"),
        (tenant_by_default, f, "(tenant='acme', *, invoice, iban, note='')"),
        (tenant_by_default, i, "(tenant='acme', *, invoice, note='')"),
        (tenant_by_default, h, "(tenant='acme', *, iban='', note, **more)"),
        (iban_by_name, f, "(invoice, *, iban, note='')"),
        (invoice_by_name, f, "(*, invoice, iban, note='')"),
        (named_alone, f, "(tenant, *, dry=False, invoice, iban, note='')"),
        (named_alone, h, "(tenant, *, dry=False, iban='', note, **more)"),
        (invoice_second, f, "(tenant, invoice, iban, note='')"),
    ],
)
def test_the_names_of_a_call_are_the_decorator_s_own_and_those_of_what_it_wraps(wrapper, function, names):
    """By place as long as it can be told which one is meant, by name from there on."""
    assert str(named_signature(wraps(function)(copied(wrapper)), takes_context=False)) == names


def copied(function):
    """Make another function of the same code."""
    copy = FunctionType(function.__code__, {}, function.__name__, function.__defaults__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy
