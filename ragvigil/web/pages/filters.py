"""What templates do to a value before they show it; numbers are worded in `model/figures.py`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from ragvigil.model import figures
from ragvigil.web.rubric_names import rubric_name
from ragvigil.web.times import AGO, LATEST, point_of_time
from ragvigil.web.views.issue_pages.problems import link_name
from ragvigil.web.views.triage.sentences import heading


def iso(time: datetime) -> str:
    """A time for a machine: ISO 8601 in UTC, to the second.

    >>> from datetime import UTC
    >>> iso(datetime(2026, 3, 1, 12, tzinfo=UTC))
    '2026-03-01T12:00:00Z'
    """
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def chosen_time(text: str) -> str:
    """A time of the scope, in UTC and to the minute, whichever way the address writes it.

    >>> chosen_time("2026-03-01T12:00:00Z"), chosen_time("1772366400"), chosen_time("90m")
    ('2026-03-01 12:00', '2026-03-01 12:00', '90m ago')
    """
    return field_time(text).replace("T", " ") or f"{text} ago"


def field_time(text: str) -> str:
    """A time of the scope for a field of date and time, in UTC; empty for how long ago.

    >>> field_time("2026-03-01T14:00:00+02:00"), field_time("6h"), field_time("")
    ('2026-03-01T12:00', '', '')
    """
    if not text.strip() or AGO.fullmatch(text.strip()):
        return ""
    return point_of_time(text, LATEST).astimezone(UTC).strftime("%Y-%m-%dT%H:%M")


def time_words(since: str, until: str) -> str:
    """The time of the scope in a sentence.

    >>> time_words("24h", ""), time_words("15m", ""), time_words("2026-03-01T12:00:00Z", "")
    ('last 24 h', 'last 15 min', 'since 2026-03-01 12:00')
    """
    ago = AGO.fullmatch(since)
    if until:
        return f"from {chosen_time(since)} to {chosen_time(until)}"
    if ago is None:
        return f"since {chosen_time(since)}"
    return f"last {ago[1]} {'min' if ago[2] == 'm' else ago[2]}"


@pass_context
def time(context: Context, moment: datetime | None) -> str:
    """A time as an element that a script may show on the reader's own clock."""
    return _element(moment, figures.moment(moment, context["now"]), "time")


@pass_context
def day(context: Context, moment: datetime | None) -> str:
    """A date, as such an element."""
    return _element(moment, figures.day(moment, context["now"]), "day")


@pass_context
def ago(context: Context, moment: datetime | None) -> str:
    """How long ago a time was, as such an element."""
    return _element(moment, figures.ago(moment, context["now"]), "ago")


def clock_time(moment: datetime) -> str:
    """The time of day to the second, as such an element."""
    return _element(moment, figures.clock_time(moment), "clock")


def commands(text: str) -> Markup:
    """A text in which what stands between backticks is a command."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _element(moment: datetime | None, words: str, form: str) -> str:
    if moment is None:
        return words
    return Markup('<time datetime="{}" data-form="{}">{}</time>').format(iso(moment), form, words)


FILTERS: Mapping[str, Callable[..., Any]] = {
    "ago": ago,
    "between": figures.between,
    "chosen_time": chosen_time,
    "clock_time": clock_time,
    "commands": commands,
    "count": figures.count,
    "counted": figures.counted,
    "day": day,
    "duration": figures.duration,
    "field_time": field_time,
    "in_points": figures.in_points,
    "incident_heading": heading,
    "iso": iso,
    "issue_name": link_name,
    "listed": figures.listed,
    "money": figures.money,
    "points": figures.points,
    "rubric_name": rubric_name,
    "score": figures.score,
    "sentence": figures.sentence,
    "share": figures.share,
    "size": figures.size,
    "spelled": figures.spelled,
    "time": time,
}
