"""Types that a task may name in its hints, and a task for each."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from uuid import UUID

import msgspec
import pydantic
from django.db import models


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
