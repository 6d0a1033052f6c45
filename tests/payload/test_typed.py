"""Arguments of types that JSON does not know arrive as those types, or are refused at the enqueue."""

import json
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_jobqueue.exceptions import InvalidPayload
from django_jobqueue.payload.signature import signature_of
from django_jobqueue.payload.storable_json import arguments
from django_jobqueue.payload.typed import forms_of
from tests.payload import shapes
from tests.payload.shapes import Address, Basket, Box, Colour, Level, Line, Odd, Point, Size

ID = UUID("6a5f1c1e-7a1f-4c55-9f5e-0d9c3f9f3f11")
NOON = datetime(2026, 11, 30, 12, 0, 0, 250, tzinfo=UTC)
BASKET = Basket(NOON, [Line("a", Decimal("1.10")), Line("b", Decimal("2"), Colour.BLUE)], {"x": date(2026, 1, 2)}, ID)

ROUND_TRIPS = [
    (shapes.moment, NOON),
    (shapes.moment, datetime(2026, 11, 30, 12, 0)),
    (shapes.moment, datetime(2026, 11, 30, 12, 0, tzinfo=timezone(timedelta(hours=5, minutes=30)))),
    (shapes.day, date(2026, 2, 28)),
    (shapes.hour, time(23, 59, 59, 999999)),
    (shapes.span, timedelta(days=-3, microseconds=7)),
    (shapes.uuid, ID),
    (shapes.decimal, Decimal("1.10")),
    (shapes.decimal, Decimal("-0.000")),
    (shapes.colour, Colour.BLUE),
    (shapes.level, Level.HIGH),
    (shapes.odd, Odd.PAIR),
    (shapes.size, Size.SMALL),
    (shapes.line, BASKET.lines[1]),
    (shapes.basket, BASKET),
    (shapes.address, Address(street="Main", since=date(2020, 1, 1), shares=[Decimal("0.5")])),
    (shapes.point, Point(1, NOON)),
    (shapes.customer, ID),
    (shapes.maybe, None),
    (shapes.maybe, ID),
    (shapes.decimals, [Decimal(1), Decimal("2.50")]),
    (shapes.days, (date(2026, 1, 1), date(2026, 1, 2))),
    (shapes.pair, ("a", ID)),
    (shapes.tags, {"b", "a"}),
    (shapes.by_name, {"one": BASKET.lines[0]}),
    (shapes.box, Box(Decimal("1.0"), [Decimal("2.50")])),
    (shapes.parcel, shapes.Parcel(ID)),
    (shapes.counted, shapes.Counted(3)),
    (shapes.tidy, shapes.Tidy(" a ")),
    (shapes.envelope, shapes.Envelope({"a": [1, 2.5, None]}, "b", shapes.Pet("rex"))),
    (shapes.anything, shapes.Anything(x={"a": [1, True, 1e22, -0.0]})),
    (shapes.open_tuple, (1, date(2026, 1, 1), date(2026, 1, 2), "end")),
    (shapes.open_tuple, (1, "end")),
    (shapes.nested_tuple, (1, "a", ID)),
]


def carried(function, value):
    """Write a value as an enqueue does, store it as PostgreSQL would, and read it as a runner does."""
    forms = forms_of(function, takes_context=False)
    texts = arguments(*forms.write((value,), {"value": value}), max_bytes=100_000)
    args, kwargs = forms.read(*map(json.loads, texts))
    forms.require_same(((value,), {"value": value}), (args, kwargs))
    return args[0], kwargs["value"]


@pytest.mark.parametrize(("function", "value"), ROUND_TRIPS, ids=lambda v: getattr(v, "__name__", repr(v)[:40]))
def test_a_value_arrives_as_the_type_that_the_hint_names(function, value):
    """By place and by name: equal, and of the same type."""
    for arrived in carried(function, value):
        assert type(arrived) is type(value)
        assert arrived == value or repr(arrived) == repr(value)


def test_a_type_may_contain_itself():
    """A tree arrives as a tree."""
    value = shapes.Node(Decimal("1.0"), [shapes.Node(Decimal(2), [shapes.Node(Decimal(3))])])

    assert carried(shapes.tree, value) == (value, value)


def test_a_model_with_names_of_its_own_for_json_arrives():
    """What pydantic writes by an alias it reads by that."""
    value = shapes.Renamed(fullName="Ada")

    assert carried(shapes.renamed, value) == (value, value)


def test_a_model_that_hides_what_it_holds_is_refused():
    """A SecretStr is written as asterisks, which would arrive in its place."""
    with pytest.raises(InvalidPayload, match=r"args\[0\]\.password: would arrive as another value") as error:
        carried(shapes.log_in, shapes.Login(password="hunter2"))

    assert "hunter2" not in str(error.value)


def seen(times):
    value = shapes.Counted(1)
    value.seen = times
    return value


OTHERS = [
    (shapes.counted, seen(7), "args[0].seen: would arrive as another value"),
    (shapes.gross, shapes.Gross(Decimal(1)), "args[0].amount: would arrive as another value"),
    (
        shapes.grosses,
        {"a": [None, shapes.Gross(Decimal(1))]},
        "args[0][…][1].amount: would arrive as another value",
    ),
    (
        shapes.envelope,
        shapes.Envelope({"at": NOON}),
        "args[0].payload[…]: is of type datetime, and would arrive as str",
    ),
    (shapes.envelope, shapes.Envelope({"d": {1}}), "args[0].payload[…]: is of type set, and would arrive as list"),
    (shapes.envelope, shapes.Envelope({}, label=NOON), "args[0].label: is of type datetime, and would arrive as str"),
    (
        shapes.envelope,
        shapes.Envelope({}, pet=shapes.Dog("rex", breed="lab")),
        "args[0].pet: is of type Dog, and would arrive as Pet",
    ),
    (
        shapes.anything,
        shapes.Anything(x=shapes.Access.READ),
        "args[0].x: is of type Access, and would arrive as int",
    ),
    (
        shapes.anything,
        shapes.Anything(x=time(12, tzinfo=ZoneInfo("Europe/Berlin"))),
        "args[0].x: is of type time, and would arrive as str",
    ),
    (
        shapes.opening,
        shapes.Opening(at=time(12, tzinfo=ZoneInfo("Europe/Berlin"))),
        "args[0].at: would arrive as another value",
    ),
    (shapes.gross, shapes.Gross(Decimal("NaN")), "args[0].amount: is NaN or infinite"),
]


@pytest.mark.parametrize(("function", "value", "words"), OTHERS, ids=lambda v: getattr(v, "__name__", repr(v)[:40]))
def test_what_would_arrive_as_something_else_is_refused(function, value, words):
    """A class reads its own words, and may make another value of them: another amount, or a value of another type."""
    with pytest.raises(InvalidPayload) as error:
        carried(function, value)

    assert str(error.value).startswith(words)


def test_what_a_class_leaves_out_of_comparisons_may_differ():
    """A field with compare=False, such as a cache, is no part of the value."""
    value = shapes.Counted(1)
    value.cached = 5

    assert carried(shapes.counted, value) == (value, value)


@pytest.mark.parametrize("fold", [0, 1])
def test_a_moment_of_the_repeated_hour_arrives_in_a_model(fold):
    """To `==` it equals no moment of another zone; the wall clock and the offset are the same."""
    moment = datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=fold)
    arrived, _ = carried(shapes.anything_at, shapes.At(at=moment))

    assert (arrived.at.replace(tzinfo=None), arrived.at.utcoffset()) == (
        moment.replace(tzinfo=None, fold=0),
        moment.utcoffset(),
    )


@pytest.mark.parametrize(
    ("function", "value", "words"),
    [
        (shapes.decimal, Decimal("NaN"), "is NaN or infinite"),
        (shapes.decimal, Decimal("-Infinity"), "is NaN or infinite"),
        (shapes.hour, time(12, tzinfo=ZoneInfo("Europe/Berlin")), "has a zone whose offset depends on the day"),
        (shapes.open_tuple, (1,), "has 1 items; the task wants 2 or more"),
        (shapes.open_tuple, (1, "a", "end"), "is of type str; the task wants date"),
        (shapes.box, Box(1), "is of type int; the task wants Decimal"),
    ],
    ids=lambda v: getattr(v, "__name__", repr(v)[:40]),
)
def test_what_its_type_cannot_tell_again_is_refused(function, value, words):
    """NaN equals nothing; the hours of a zone without a day have no offset; members are of their types."""
    with pytest.raises(InvalidPayload, match=words):
        carried(function, value)


def positions(*moments: datetime, **ids: UUID): ...


def test_hints_of_more_arguments_count_for_each_of_them():
    """As Python reads them: the hint of `*moments` is that of each."""
    forms = forms_of(positions, takes_context=False)

    written = forms.write([NOON, NOON], {"a": ID})
    assert written == ([NOON.isoformat()] * 2, {"a": str(ID)})
    assert forms.read(*written) == ([NOON, NOON], {"a": ID})
    with pytest.raises(InvalidPayload, match=r"args\[1\]: is of type str; the task wants datetime"):
        forms.write([NOON, "soon"], {})


def by_place(at: datetime, /, **more): ...


def test_a_name_beside_a_parameter_that_goes_by_place_has_no_hint():
    """`at=` goes to `**more`, and travels as it is."""
    assert forms_of(by_place, takes_context=False).write([NOON], {"at": "text"}) == (
        [NOON.isoformat()],
        {"at": "text"},
    )


@pytest.mark.filterwarnings("always")
def test_a_model_with_a_field_of_another_type_is_refused_without_a_word_of_it(recwarn):
    """Pydantic's own warnings, its errors, and those of the project's validators quote the value."""
    value = shapes.Account(iban="fine")
    for iban, limits in (["hunter2"], {}), ("hunter2", {}), ("fine", {"hunter2": "x"}):
        value.iban, value.limits = iban, limits
        with pytest.raises(InvalidPayload) as error:
            carried(shapes.account, value)

        assert "hunter2" not in str(error.value)
        assert "is no Account: " in str(error.value)
    assert not recwarn.list


def test_a_stored_list_that_cannot_be_a_set_is_told():
    """As when a hint was changed, or a person has edited it."""
    with pytest.raises(InvalidPayload, match=r"args\[0\]: has an item that a set cannot hold"):
        forms_of(shapes.tags, takes_context=False).read([[["a"]]], {})


@pytest.mark.parametrize("function", [shapes.any_set, shapes.any_tuple, shapes.no_items], ids=lambda f: f.__name__)
def test_a_container_of_anything_travels_as_it_is(function):
    """typing.Set and its like say nothing of what is in them; tuple[()] says that nothing is."""
    assert forms_of(function, takes_context=False).read([[]], {})[0] in ([[]], [()])


def test_a_value_that_contains_itself_is_refused():
    """It has no end, and an error that says so."""
    value = shapes.Node(Decimal(1))
    value.children.append(value)

    with pytest.raises(InvalidPayload, match=r"args\[0\]: contains itself, or is nested too deeply"):
        forms_of(shapes.tree, takes_context=False).write((value,), {})


def test_a_class_whose_hints_cannot_be_read_is_named():
    """A hint that only a type checker knows says nothing of what to store."""
    with pytest.raises(InvalidPayload, match="is an Unreadable, whose hints cannot be read"):
        forms_of(shapes.unreadable, takes_context=False).write((shapes.Unreadable(1),), {})
    with pytest.raises(InvalidPayload, match="is an Unreadable, whose hints cannot be read"):
        forms_of(shapes.unreadable, takes_context=False).read([{"at": 1}], {})


def test_whatever_a_class_raises_at_a_stored_value_it_does_not_fit():
    """The class is the project's, and may raise what it likes; the runner outlives that."""
    with pytest.raises(InvalidPayload, match=r"is no Touchy: KeyError$"):
        forms_of(shapes.touchy, takes_context=False).read([{"value": 2}], {})


REFUSALS = [
    (shapes.moment, "2026-11-30", "args[0]: is of type str; the task wants datetime"),
    (shapes.day, NOON, "args[0]: is of type datetime; the task wants date"),
    (shapes.uuid, str(ID), "args[0]: is of type str; the task wants UUID"),
    (shapes.decimal, 1.1, "args[0]: is of type float; the task wants Decimal"),
    (shapes.colour, "red", "args[0]: is of type str; the task wants Colour"),
    (shapes.line, {"sku": "a"}, "args[0]: is of type dict; the task wants Line"),
    (shapes.decimals, [Decimal(1), "2"], "args[0][1]: is of type str; the task wants Decimal"),
    (shapes.pair, ("a",), "args[0]: has 1 items; the task wants 2"),
    (shapes.by_name, {"x": 1}, "args[0]['x']: is of type int; the task wants Line"),
    (
        shapes.basket,
        Basket(NOON, [Line("a", 1.5)]),
        "args[0].lines[0].price: is of type float; the task wants Decimal",
    ),
]


@pytest.mark.parametrize(("function", "value", "words"), REFUSALS, ids=lambda v: getattr(v, "__name__", repr(v)[:30]))
def test_what_is_not_of_the_type_is_refused_with_its_place(function, value, words):
    """The error names the place, the type found and the one wanted; never the value, which may be a secret."""
    with pytest.raises(InvalidPayload) as error:
        forms_of(function, takes_context=False).write((value,), {})

    assert str(error.value) == words


STORED = [
    (shapes.moment, "soon", "is no datetime"),
    (shapes.moment, 5, "is of type int; the task wants str"),
    (shapes.uuid, "x", "is no UUID"),
    (shapes.decimal, "x", "is no Decimal"),
    (shapes.colour, "green", "is no Colour; that is one of 'red', 'blue'"),
    (shapes.line, {"sku": "a"}, "has no price, which Line needs"),
    (shapes.address, {"street": "Main"}, "is no Address: since: missing"),
    (shapes.point, {"x": "a"}, "is no Point: "),
    (shapes.account, {"iban": "a", "limits": {"b": "c"}}, "is no Account: limits.…: int_parsing"),
    (shapes.account, {"iban": "hunter2"}, "is no Account: iban: unknown_iban"),
    (shapes.closed, {"hunter2": 1}, "is no Closed: Object contains an unknown field"),
    (shapes.decimal, "NaN", "is no Decimal"),
]


@pytest.mark.parametrize(("function", "stored", "words"), STORED, ids=lambda v: getattr(v, "__name__", repr(v)[:30]))
def test_what_is_stored_and_fits_no_more_is_told(function, stored, words):
    """Edited by a person, or older than the code: the error says what would fit."""
    with pytest.raises(InvalidPayload) as error:
        forms_of(function, takes_context=False).read([stored], {})

    assert str(error.value).startswith(f"args[0]: {words}")


def plain(a, b: int, c: "list[str]", d: Any = None, *rest: int, e: dict[str, int] | None = None, **others: str): ...


def unreadable(a: "NoSuchName", b: UUID): ...  # noqa: F821


def two_kinds(a: UUID | datetime): ...


def test_plain_hints_cost_nothing():
    """Where no hint names such a type arguments travel as they are; so they do where hints cannot be read."""
    args, kwargs = [[1]], {"b": {1}}
    for function in (plain, unreadable, two_kinds):
        forms = forms_of(function, takes_context=False)
        for got, kept in zip((*forms.write(args, kwargs), *forms.read(args, kwargs)), (args, kwargs) * 2, strict=True):
            assert got is kept


@pytest.mark.parametrize(
    "function",
    [
        shapes.moment,
        shapes.colour,
        shapes.line,
        shapes.address,
        shapes.point,
        shapes.touchy,
        shapes.strict,
        shapes.tint,
    ],
    ids=lambda function: function.__name__,
)
@pytest.mark.parametrize(
    "secret", ["hunter2", {"hunter2": 1}, {"street": "hunter2", "since": "hunter2", "x": "hunter2"}]
)
def test_an_error_never_tells_the_value(function, secret):
    """It may be a secret; the error is shown to whoever reviews the dead letter."""
    with pytest.raises(InvalidPayload) as error:
        forms_of(function, takes_context=False).read([secret], {})

    assert "hunter2" not in str(error.value)


@given(st.datetimes(timezones=st.timezones() | st.none()) | st.just(NOON))
def test_any_datetime_comes_back_as_the_same_moment(value):
    """Whatever its zone: the same wall clock, and the same offset, to the microsecond."""
    arrived, _ = carried(shapes.moment, value)

    assert (arrived.replace(tzinfo=None), arrived.utcoffset()) == (value.replace(tzinfo=None), value.utcoffset())


@given(st.timedeltas(min_value=timedelta(days=-90_000), max_value=timedelta(days=90_000)))
def test_any_span_comes_back_to_the_microsecond(value):
    """Two and a half centuries either way."""
    assert carried(shapes.span, value) == (value, value)


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_any_decimal_comes_back_with_its_digits(value):
    """Trailing zeros and the sign of zero included."""
    assert repr(carried(shapes.decimal, value)[0]) == repr(value)


def many(times: dict[str, UUID], **more: UUID): ...


@pytest.mark.parametrize(
    "refuse",
    [
        lambda key: forms_of(many, takes_context=False).read([{key: 1}], {}),
        lambda key: forms_of(many, takes_context=False).write([{key: 1}], {}),
        lambda key: signature_of(shapes.moment, takes_context=False).require_fit([], {key: 1}),
    ],
    ids=["read", "write", "fit"],
)
def test_a_path_shows_the_beginning_of_a_long_key(refuse):
    """Keys may be data: of a megabyte, or somebody's letter."""
    with pytest.raises(InvalidPayload) as error:
        refuse("k" * 100_000)

    assert len(str(error.value)) < 300
    assert "kkk" in str(error.value)
