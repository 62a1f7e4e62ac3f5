"""The traffic around issues: read once for all who ask, and anew in the background."""

from __future__ import annotations

import time

import pytest

from ragvigil.app.sources import issue_traffic
from ragvigil.app.sources.issue_traffic import IssueTraffic
from ragvigil.store.engine.store import Store
from ragvigil.store.issues.issues import IssueFilter
from tests.issues import NOW, failure, issue, keep
from tests.patience import PATIENCE_SECONDS


def failing(traffic: IssueTraffic, *ids: str) -> int:
    return sum(family.failing for family in traffic.of(ids).outside.of(IssueFilter()))


def test_numbers_are_kept_until_an_issue_is_new_or_they_are_old(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    traffic = IssueTraffic(store, lambda: float(NOW))
    keep(store, [failure(1)])
    assert failing(traffic) == 1
    keep(store, [failure(2)])
    assert failing(traffic) == 1
    keep(store, [], issue("i1"))
    assert failing(traffic, "i1") == 2
    keep(store, [failure(3)])
    assert failing(traffic, "i1") == 2
    monkeypatch.setattr(issue_traffic, "KEEP_SECONDS", 0.0)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while failing(traffic, "i1") == 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert failing(traffic, "i1") == 3
