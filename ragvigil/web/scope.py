"""What a reader has chosen: place, time and clock. It stands in the address and in every link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Literal
from urllib.parse import urlencode, urlsplit

from fastapi import Request

from ragvigil.web.times import point_of_time

TIMES = ("15m", "1h", "6h", "24h", "7d", "30d")
"""Spans of time to choose from, beside from-to."""
DEFAULT_TIME = "24h"
Clock = Literal["utc", "local"]
UNIT: Mapping[Clock, str] = {"utc": "", "local": " UTC"}
"""What stands after a time in a sentence, which no script can put on the reader's own clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """An empty name matches all; `since` and `until` are written as in the API.

    `prefix` is the path of `external_url`, for a daemon behind a proxy that serves it there.
    """

    environment: str = ""
    service: str = ""
    route: str = ""
    since: str = DEFAULT_TIME
    until: str = ""
    clock: Clock = "utc"
    prefix: str = ""

    def url(self, path: str, **more: object) -> str:
        """The address of a page of ours with this scope; empty values of `more` are left out.

        >>> Scope(service="help desk").url("/issues", state="new")
        '/issues?service=help+desk&state=new'
        """
        given = {key: value for key, value in more.items() if value not in ("", None)}
        query = urlencode(self.chosen() | given)
        return f"{self.prefix}{path}?{query}" if query else f"{self.prefix}{path}"

    def chosen(self) -> dict[str, str]:
        """What differs from the defaults, as the parameters of an address."""
        given = {name: getattr(self, name) for name in USUAL}
        return {name: value for name, value in given.items() if value != USUAL[name]}

    def with_(self, **changes: str) -> Scope:
        """This scope with other choices."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def window(self, now: datetime) -> tuple[datetime, datetime]:
        """Begin and end of the chosen time, UTC. Raises HTTPException (422) where it is none."""
        begin = point_of_time(self.since, now)
        return begin, point_of_time(self.until, now, "until") if self.until else now


USUAL = {field.name: field.default for field in fields(Scope) if field.name != "prefix"}
"""The choices in their order, each as it is where nothing was chosen: every link asks."""


def scope_of(request: Request) -> Scope:
    """The scope of a request's address. Raises HTTPException (422) for a time that is none.

    `since` may also hold both ends, as an interval of ISO 8601: a choice of a form has one value.
    """
    query: Mapping[str, str] = request.query_params
    names = ("environment", "service", "route", "since", "until")
    given = {name: query[name][:256] for name in names if query.get(name)}
    since, _, until = given.get("since", "").partition("/")
    given |= {"since": since, "until": until} if until else {}
    scope = Scope(
        **given,
        clock="local" if query.get("clock") == "local" else "utc",
        prefix=urlsplit(request.app.state.base).path.rstrip("/"),
    )
    scope.window(datetime.now(UTC))
    return scope
