"""How values are shown: escaped, capped, and with invisible characters made visible.

Every function takes whatever a row may hold and returns text, or markup made by `format_html`, which escapes. None
raises.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import wraps
from math import isfinite
from typing import Any, TypeVar
from uuid import UUID

from django.contrib import admin
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from django_jobqueue.admin.covers import log_failure, secrets_of_row
from django_jobqueue.shown import ALL_IS_HIDDEN, Veil

logger = logging.getLogger(__name__)

Cell = TypeVar("Cell", bound=Callable[[Any, Any], Any])

NOTHING = "\u2013"

# What a browser would hide, or use to turn the text around it: controls, marks of direction, separators of lines.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)


def cell(description: Any) -> Callable[[Cell], Cell]:
    """Make a method a column of a list. If it fails, that one cell says so; the page stands."""

    def decorate(function: Cell) -> Cell:
        @wraps(function)
        def guarded(self: Any, row: Any) -> Any:
            try:
                return function(self, row)
            except Exception as error:  # a page of a hundred rows is not worth less than one of them
                what = f"column {function.__name__} of {type(row).__name__} {row.pk} cannot be shown"
                log_failure(logger, what, error, secrets_of_row(type(row), row.pk, using=row._state.db))
                return format_html('<span class="jq-unreadable">{}</span>', _("unreadable"))

        return admin.display(description=description)(guarded)  # type: ignore[return-value]

    return decorate


# --- Text


def visible(text: object) -> str:
    """Write invisible and direction-turning characters as their code, like U+202E."""
    return _INVISIBLE.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", str(text).replace("\r\n", "\n"))


def clip(text: object, limit: int) -> str:
    """Shorten to `limit` characters, with a mark."""
    shown = visible(text)
    return shown if len(shown) <= limit else shown[: limit - 1].rstrip() + "…"


def first_line(text: object, limit: int = 160) -> str:
    """Return the first line that says something."""
    return clip(next((line.strip() for line in str(text or "").splitlines() if line.strip()), ""), limit)


def cut(head: str, tail: str, size: int) -> str:
    """Join the two ends of a text of `size` characters, and say how many between them are left out."""
    missing = size - len(head) - len(tail)
    if missing > 0:
        left_out = _("… %s characters are left out …") % f"{missing:,}"
        return f"{visible(head)}\n\n{left_out}\n\n{visible(tail)}"
    return visible(head + tail[-missing:] if missing else head + tail)


@dataclass(frozen=True, slots=True)
class TaskName:
    """A stored name in two parts: what a person looks for, and where it lives."""

    short: str
    module: str
    full: str


def task_name(task: object) -> TaskName:
    """Split `shop.tasks.charge` into `charge` and `shop.tasks`. A name without dots has no module."""
    full = visible(task)
    module, _dot, short = full.rpartition(".")
    return TaskName(short=short or full or NOTHING, module=module if short else "", full=full)


def class_name(dotted: object) -> str:
    """Return the last part of `requests.exceptions.ReadTimeout`; Python's own errors have no other."""
    return clip(str(dotted or "").rpartition(".")[2] or str(dotted or ""), 100)


def worker_name(worker_id: UUID | None, names: dict[Any, str]) -> str:
    """Return `host:pid` of a worker that is known, or the beginning of its id."""
    if worker_id is None:
        return ""
    return clip(names.get(worker_id) or str(worker_id)[:8], 60)


_ADDRESS = re.compile(r"(https?://[^\s<>\"'⟨⟩]*[^\s<>\"'⟨⟩.,;:!?)\]])")


def with_links(text: object) -> SafeString:
    """Write a text with its addresses as links: those of http and https, and no other scheme."""
    link = '<a href="{0}" rel="noopener noreferrer">{0}</a>'
    parts = enumerate(_ADDRESS.split(visible(text)))
    return format_html_join("", "{}", ((format_html(link, part) if i % 2 else part,) for i, part in parts))


# --- Moments and durations


@dataclass(frozen=True, slots=True)
class Moment:
    """A time as seconds since 1970, seen from the database's now."""

    epoch: float
    now: float

    @property
    def seconds_ago(self) -> float:
        """How long ago it was; negative for what is to come."""
        return self.now - self.epoch

    @property
    def iso(self) -> str:
        """The full time in the reader's zone, or in words where no calendar of Python's reaches."""
        exact = _as_datetime(self.epoch)
        if exact is not None:
            return f"{exact.replace(tzinfo=None).isoformat(' ', 'seconds')} {exact.tzname() or ''}".rstrip()
        if not isfinite(self.epoch):
            return _("infinity") if self.epoch > 0 else _("minus infinity")
        return _("about the year %(year)d") % {"year": 1970 + self.epoch // 31_556_952}

    @property
    def relative(self) -> str:
        """`4 min ago`, `in 3 h`, `just now`."""
        if _as_datetime(self.epoch) is None:
            return self.iso
        length = duration(abs(self.seconds_ago), parts=1)
        if abs(self.seconds_ago) < 1:
            return _("just now")
        return (_("%s ago") if self.seconds_ago > 0 else _("in %s")) % length


def moment(epoch: float | None, now: float | None) -> SafeString | str:
    """Show a time by its age, with the full time in the title. Returns an en dash for NULL."""
    if epoch is None or now is None:
        return NOTHING
    seen = Moment(epoch, now)
    return format_html('<time title="{}">{}</time>', seen.iso, seen.relative)


def moment_in_full(epoch: float | None, now: float | None) -> SafeString | str:
    """Show a time by its age and in full, for pages with room for both."""
    if epoch is None or now is None:
        return NOTHING
    seen = Moment(epoch, now)
    if seen.relative == seen.iso:
        return seen.iso
    return format_html("<time>{} <small>{}</small></time>", seen.relative, seen.iso)


def deadline(epoch: float | None, now: float | None) -> SafeString | str:
    """Show a time to come inside of a sentence: `2026-05-01 12:00:00 UTC (in 3 h)`. Returns an en dash for NULL."""
    if epoch is None or now is None:
        return NOTHING
    seen = Moment(epoch, now)
    if seen.relative == seen.iso:
        return seen.iso
    return format_html("<time>{}</time> ({})", seen.iso, seen.relative)


def _as_datetime(epoch: float) -> datetime | None:
    try:
        exact = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=epoch)
    except (OverflowError, ValueError):
        return None
    try:
        return timezone.localtime(exact)
    except (OverflowError, ValueError):  # the first and the last day of all, in another zone
        return exact


_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def duration(seconds: float | None, *, parts: int = 2) -> str:
    """Write seconds as people say them: 12 ms, 1.4 s, 3 min 20 s, 2 h 5 min, 3 d 4 h."""
    if seconds is None:
        return NOTHING
    if not isfinite(seconds) or abs(seconds) > 1e11:
        return _("for ever")
    if seconds < 0:
        return "-" + duration(-seconds, parts=parts)
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 10 and parts > 1:
        return f"{seconds:.1f} s"
    left = int(seconds)
    words: list[str] = []
    for size, unit in _UNITS:
        count, left = divmod(left, size)
        if count or words:
            words.append(f"{count} {unit}" if count else "")
        if len(words) == parts:
            break
    return " ".join(word for word in words if word)


# --- Badges


def badge(value: object, word: object = "") -> SafeString:
    """Show a state as a word with a mark of its colour; an unknown one as it is stored, in the neutral colour."""
    kind = re.sub(r"[^a-z_]", "", str(value).lower())[:24]
    return format_html('<span class="jq-badge jq-is-{}">{}</span>', kind, clip(word or value or NOTHING, 24))


def words(code: object) -> str:
    """Write `attempts_exhausted` as `Attempts exhausted`."""
    return capfirst(clip(code, 60).replace("_", " "))


# --- Arguments and other JSON


@dataclass(frozen=True, slots=True)
class Json:
    """A JSON value as text to read, and what was wrong with it or left out."""

    text: str
    remark: str = ""

    @property
    def lines(self) -> int:
        """How many lines it takes."""
        return self.text.count("\n") + 1


def pretty(
    text: str | None, size: int | None, *, limit: int, veil: Veil, cover: Callable[[Any], Any] | None = None
) -> Json:
    """Indent JSON text; show it as it came from the database where it was cut or Python cannot read it.

    Secrets are covered by the veil: by `cover`, one of its methods, which is `value` unless given.
    """
    if text is None:
        return Json(NOTHING)
    why = _(ALL_IS_HIDDEN) if veil.hides_all else ""
    if size is not None and size > len(text):
        cut = _("The first %(shown)s of %(size)s characters.")
        return Json(visible(veil.broken_json(text)), cut % {"shown": f"{len(text):,}", "size": f"{size:,}"})
    try:
        indented = json.dumps((cover or veil.value)(json.loads(text)), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        remark = _("Shown as stored: too deep or too long a number to be read.")
        return Json(visible(veil.broken_json(text)), remark)
    # Indentation of deep nesting grows with the square of its depth.
    if len(indented) > 4 * limit:
        return Json(visible(veil.broken_json(text)), why)
    return Json(visible(indented), why)


def call(args_text: str | None, kwargs_text: str | None, limit: int = 120, *, veil: Veil) -> str:
    """Write the arguments as one would type them, in short: `42, "x", retry=true`."""
    if args_text is None or kwargs_text is None:
        return _("(large)")
    try:
        args, kwargs = json.loads(args_text), json.loads(kwargs_text)
        args, kwargs = veil.arguments(args, kwargs)
        if not isinstance(args, list) or not isinstance(kwargs, dict):
            return clip(f"{_dumps(args)} {_dumps(kwargs)}", limit)
        given = [_dumps(value) for value in args] + [f"{name}={_dumps(value)}" for name, value in kwargs.items()]
    except (ValueError, RecursionError):
        return clip(f"{veil.broken_json(args_text)} {veil.broken_json(kwargs_text)}", limit)
    return clip(", ".join(given), limit)


def brief(text: str, limit: int, *, veil: Veil, secrets: Collection[str]) -> str:
    """Write a JSON value in one short line."""
    try:
        return clip(_dumps(veil.value(json.loads(text), secrets)), limit)
    except (ValueError, RecursionError):
        return clip(veil.broken_json(text), limit)


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
