"""What is shown of issues, from the embedded store."""

from __future__ import annotations

from ragvigil.model.score import Layer, Stream
from ragvigil.store import issue_views as views
from ragvigil.store.store import Store
from ragvigil.store.traces import TraceRows
from tests.flow.test_api import RUBRICS, outcome
from tests.issues import DAY, NANOS, NOW, failure, keep, membership


def test_members_are_counted_by_the_chance_they_were_looked_at_with_and_by_day(
    store: Store,
) -> None:
    keep(store, [failure(n) for n in range(3)], "i1")
    keep(store, [failure(9, ago=DAY, inclusion_probability=0.07)], "i1")
    keep(store, [failure(10, ago=20 * DAY)], "i2")
    found = views.looked(store, NOW)
    assert [(one.inclusion_probability, one.members) for one in found["i1"]] == [(0.07, 1), (1, 3)]
    sampled, exact = found["i1"]
    assert exact.stream is Stream.BASE
    assert exact.days == (0,) * 13 + (3,)
    assert sampled.days == (0,) * 12 + (1, 0)
    assert sum(found["i2"][0].days) == 0
    assert list(views.looked(store, NOW, ["i2"])) == ["i2"]


def test_the_traits_of_an_issue_are_counted_the_commonest_first(store: Store) -> None:
    keep(store, [failure(n, ago=600 - n) for n in range(3)], "i1")
    keep(store, [failure(9, route="/orders", service_version="", llm_model="m1")], "i1")
    keep(store, [failure(10, route="/other")], "i2")
    found = {(one.name, one.value): one for one in views.traits(store, "i1")}
    assert {key: one.members for key, one in found.items()} == {
        ("route", "/refunds"): 3,
        ("route", "/orders"): 1,
        ("service_version", "2.4.0"): 3,
        ("llm_model", "m1"): 1,
    }
    refunds = found["route", "/refunds"]
    assert refunds.first_unix_nano == (NOW - 600) * NANOS
    assert refunds.last_unix_nano == (NOW - 598) * NANOS
    assert len(views.traits(store, "i1", most=1)) == 3


def test_members_are_read_as_they_were_written_the_newest_first(store: Store) -> None:
    old, new = failure(1, ago=600), failure(2, ago=60)
    keep(store, [old, new], "i1")
    others = ("i9", 0.25)
    assert views.members(store, "i1") == [
        (new, membership(new, "i1", others)),
        (old, membership(old, "i1", others)),
    ]
    before = new.time_unix_nano
    assert [one.trace_id for one, _ in views.members(store, "i1", before_unix_nano=before)] == [
        old.trace_id
    ]
    assert len(views.members(store, "i1", limit=1)) == 1


def test_what_is_in_no_issue_is_counted_by_route_beside_its_traffic(store: Store) -> None:
    rows = TraceRows(RUBRICS)
    for n in range(5):
        rows.add(outcome(100 + n, NOW - 60))
    store.write(rows.take())
    keep(store, [failure(1), failure(2)])
    keep(store, [failure(3)], "i1")
    found = views.ungrouped(store, NOW - DAY)
    assert found[0] == views.Ungrouped(
        service="desk", environment="prod", route="/refunds", family=Layer.GENERATION,
        failing=2, requests=5,
    )  # fmt: skip
    assert {(one.family, one.failing) for one in found[1:]} == {
        (Layer.RETRIEVAL, 0), (Layer.CROSS_CUTTING, 0),
    }  # fmt: skip
    assert views.ungrouped(store, NOW + DAY) == []
