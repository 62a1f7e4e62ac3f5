"""What is shown of issues, from the embedded store."""

from __future__ import annotations

from ragvigil.model.score import Stream
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import views
from tests.issues import DAY, NANOS, NOW, failure, issue, keep


def test_members_are_counted_by_the_chance_they_were_looked_at_with_and_by_day(
    store: Store,
) -> None:
    keep(store, [failure(n) for n in range(3)], issue("i1"))
    keep(store, [failure(9, ago=DAY, inclusion_probability=0.07)], issue("i1"))
    keep(store, [failure(10, ago=20 * DAY)], issue("i2"))
    found = views.sampled_members(store, NOW, ["i1", "i2"])
    assert [(members.inclusion_probability, members.members) for members in found["i1"]] == [
        (0.07, 1),
        (1, 3),
    ]
    sampled, exact = found["i1"]
    assert exact.stream is Stream.BASE
    assert exact.days == (0,) * 13 + (3,)
    assert sampled.days == (0,) * 12 + (1, 0)
    assert sum(found["i2"][0].days) == 0
    assert list(views.sampled_members(store, NOW, ["i2"])) == ["i2"]


def test_the_traits_of_an_issue_are_counted_the_commonest_first(store: Store) -> None:
    keep(store, [failure(n, ago=600 - n) for n in range(3)], issue("i1"))
    keep(store, [failure(9, route="/orders", service_version="", llm_model="m1")], issue("i1"))
    keep(store, [failure(10, route="/other")], issue("i2"))
    found = {(trait.name, trait.value): trait for trait in views.traits(store, ["i1"])}
    assert {key: trait.members for key, trait in found.items()} == {
        ("route", "/refunds"): 3,
        ("route", "/orders"): 1,
        ("service_version", "2.4.0"): 3,
        ("llm_model", "m1"): 1,
    }
    refunds = found["route", "/refunds"]
    assert refunds.first_unix_nano == (NOW - 600) * NANOS
    assert refunds.last_unix_nano == (NOW - 598) * NANOS
    assert len(views.traits(store, ["i1"], most=1)) == 3
