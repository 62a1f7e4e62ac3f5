"""Decides when a signed case is run: at once, then regularly, and after each change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ragvigil.model.golden import CaseRun, CaseState, GoldenCase

HOUR = 3600 * 10**9
AGAIN = HOUR // 6
"""A run that could not decide is repeated after this time, for an hour after a change."""
RUN = (CaseState.SIGNED, CaseState.PASSING)


class Change(NamedTuple):
    """A deploy or a noticed change; an empty service or environment stands for any."""

    service: str
    environment: str
    time_unix_nano: int


def cases_due(
    cases: Iterable[GoldenCase],
    newest: Mapping[str, CaseRun],
    changes: Iterable[Change],
    now: int,
    hours: float,
) -> Iterator[GoldenCase]:
    """The signed cases to run now. `now` is in nanoseconds since the epoch; `hours` between runs.

    A run from before the signature was of an earlier revision and does not count.
    """
    all_changes = list(changes)
    for case in cases:
        run = newest.get(case.case_id)
        last = run.time_unix_nano if run else 0
        is_old = last < case.approved_unix_nano or now - last >= hours * HOUR
        # A service that restarts with its change answers nothing: what it changed is still unknown.
        if run and run.is_pass is None and now - last >= AGAIN:
            last -= HOUR
        if case.state in RUN and (is_old or _has_changed(case, last, all_changes)):
            yield case


def _has_changed(case: GoldenCase, since: int, changes: Iterable[Change]) -> bool:
    return any(
        change.time_unix_nano > since
        and change.service in ("", case.service)
        and change.environment in ("", case.environment)
        for change in changes
    )
