"""Types that a task may name in its hints, and a task for each."""

from __future__ import annotations

import typing
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, IntFlag
from typing import Any, Generic, NewType, TypeVar
from uuid import UUID

import msgspec
import pydantic
from django.db import models
from pydantic_core import PydanticCustomError


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Odd(Enum):
    PAIR = (1, 2)
    NOTHING = None


class Size(models.TextChoices):
    SMALL = "s", "small"


@dataclass(frozen=True)
class Line:
    sku: str
    price: Decimal
    colour: Colour = Colour.RED


@dataclass
class Basket:
    at: datetime
    lines: list[Line]
    notes: dict[str, date] = field(default_factory=dict)
    owner: UUID | None = None


class Address(pydantic.BaseModel):
    street: str
    since: date
    shares: list[Decimal] = []


class Point(msgspec.Struct):
    x: int
    at: datetime


@dataclass
class Node:
    name: Decimal
    children: list[Node] = field(default_factory=list)


class Renamed(pydantic.BaseModel):
    name: str = pydantic.Field(alias="fullName")


class OneWay(pydantic.BaseModel):
    name: str = pydantic.Field(validation_alias="in", serialization_alias="out")


@dataclass
class Unreadable:
    at: NoSuchType  # noqa: F821 - only a type checker would know it


@dataclass
class Touchy:
    value: int

    def __post_init__(self):
        raise KeyError(f"too large: {self.value}")


class Strict(pydantic.BaseModel):
    street: str

    @pydantic.field_validator("street")
    @classmethod
    def refuse(cls, value):
        raise ValueError(f"I do not like {value}")


class Tint(msgspec.Struct):
    street: Colour


Customer = NewType("Customer", UUID)


class Login(pydantic.BaseModel):
    password: pydantic.SecretStr


@dataclass
class Counted:
    x: int
    seen: int = field(init=False, default=0)
    cached: int = field(init=False, default=0, compare=False)


@dataclass
class Gross:
    amount: Decimal

    def __post_init__(self):
        self.amount = self.amount * 2


@dataclass
class Tidy:
    name: str

    def __post_init__(self):
        self.name = self.name.strip()


class Pet(msgspec.Struct):
    name: str


class Dog(Pet):
    breed: str = ""


class Envelope(msgspec.Struct):
    payload: dict[str, Any]
    label: str = ""
    pet: Pet | None = None


class Anything(pydantic.BaseModel):
    x: Any = None


class Access(IntFlag):
    READ = 1
    WRITE = 2


class Opening(pydantic.BaseModel):
    at: time


class At(pydantic.BaseModel):
    at: datetime


class Account(pydantic.BaseModel):
    iban: str
    limits: dict[str, int] = {}

    @pydantic.field_validator("iban")
    @classmethod
    def check(cls, value):
        if "hunter2" in value:
            raise PydanticCustomError("unknown_iban", "no account {iban}", {"iban": value})
        return value


class Closed(msgspec.Struct, forbid_unknown_fields=True):
    x: int = 0


T = TypeVar("T")


@dataclass
class Box(Generic[T]):
    item: T
    others: list[T] = field(default_factory=list)


class Parcel(msgspec.Struct, Generic[T]):
    item: T


def counted(value: Counted): ...
def gross(value: Gross): ...
def grosses(value: dict[str, list[Gross | None]]): ...
def tidy(value: Tidy): ...
def envelope(value: Envelope): ...
def anything(value: Anything): ...
def opening(value: Opening): ...
def anything_at(value: At): ...
def account(value: Account): ...
def closed(value: Closed): ...
def box(value: Box[Decimal]): ...
def parcel(value: Parcel[UUID]): ...
def open_tuple(value: tuple[int, *tuple[date, ...], str]): ...
def nested_tuple(value: tuple[int, *tuple[str, UUID]]): ...
def log_in(value: Login): ...
def any_set(value: typing.Set): ...  # noqa: UP006
def any_tuple(value: typing.Tuple): ...  # noqa: UP006
def no_items(value: tuple[()]): ...
def customer(value: Customer): ...
def strict(value: Strict): ...
def tint(value: Tint): ...
def tree(value: Node): ...
def renamed(value: Renamed): ...
def one_way(value: OneWay): ...
def unreadable(value: Unreadable): ...
def touchy(value: Touchy): ...
def moment(value: datetime): ...
def day(value: date): ...
def hour(value: time): ...
def span(value: timedelta): ...
def uuid(value: UUID): ...
def decimal(value: Decimal): ...
def colour(value: Colour): ...
def level(value: Level): ...
def odd(value: Odd): ...
def size(value: Size): ...
def line(value: Line): ...
def basket(value: Basket): ...
def address(value: Address): ...
def point(value: Point): ...
def maybe(value: UUID | None = None): ...
def decimals(value: list[Decimal]): ...
def days(value: tuple[date, ...]): ...
def pair(value: tuple[str, UUID]): ...
def tags(value: set[str]): ...
def by_name(value: dict[str, Line]): ...
