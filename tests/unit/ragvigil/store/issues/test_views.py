"""What is shown of issues, from the embedded store."""

from __future__ import annotations

from dataclasses import fields, replace

from ragvigil.model.golden import CaseState, GoldenCase
from ragvigil.model.issue import IssueState
from ragvigil.model.outcome import Outcome
from ragvigil.model.record import Dimensions
from ragvigil.model.score import Stream
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import golden, issues, views
from tests.flow.test_api import keep as keep_outcomes
from tests.flow.test_api import outcome
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


def answered(number: int, ago: int, prompt: str = "", route: str = "/refunds") -> Outcome:
    made = outcome(number, NOW - ago, route=route)
    (scored,) = made.records
    record = replace(scored.record, dimensions=Dimensions(prompt_version=prompt))
    return replace(made, records=(replace(scored, record=record),))


def test_answers_on_the_routes_of_an_issue_count_from_its_first_member_on(store: Store) -> None:
    outcomes = [answered(n, ago=600 * n) for n in range(6)]
    keep_outcomes(
        store, [*outcomes, answered(9, ago=60, route="/orders"), answered(10, ago=2 * DAY)]
    )
    keep(store, [], issue("i1", first_unix_nano=(NOW - 1800) * NANOS))
    keep(store, [], issue("i2", first_unix_nano=(NOW - 9 * DAY) * NANOS))
    keep(store, [], issue("i3", routes=("/orders", "/unheard")))
    assert views.requests(store, NOW, ["i1", "i2", "i3"]) == {"i1": 4, "i2": 6, "i3": 1}


def test_traits_are_compared_with_all_other_answers_of_the_service(store: Store) -> None:
    members = [failure(n, prompt_version="v5", llm_model="m") for n in range(3)]
    keep(store, members, issue("i1"))
    v5 = [answered(n, ago=60, prompt="v5") for n in range(5)]
    rest = [answered(20 + n, ago=600, prompt="v3") for n in range(7)]
    keep_outcomes(store, [*v5, *rest, answered(40, ago=60)])
    traits = views.traits(store, ["i1"])
    found = views.elsewhere(store, issue("i1"), ["i1"], traits, NOW - DAY)
    by_name = {trait.name: counts for trait, counts in zip(traits, found, strict=True)}
    assert by_name == {
        "prompt_version": (2, 9),  # the members are no others, nor is an answer without a prompt
        "route": (10, 10),
        "service_version": (0, 0),
        "llm_model": (0, 0),
    }
    assert views.elsewhere(store, issue("i1"), ["i1"], [], NOW - DAY) == []


def test_a_line_of_an_issue_says_what_the_whole_issue_says(store: Store) -> None:
    lasting = replace(issue("i1"), state=IssueState.ONGOING)
    kept = [lasting, issue("i2", routes=("/other",)), issue("i3", merged_into="i2")]
    for each in kept:
        keep(store, [], each)
    states = (IssueState.NEW, IssueState.ONGOING)
    found = views.links(store, states)
    whole = {each.issue_id: each for each in issues.find(store, issues.IssueFilter(states=states))}
    assert [link.issue_id for link in found] == list(whole) == ["i1", "i2"]
    for link in found:
        for field in fields(link):
            assert getattr(link, field.name) == getattr(whole[link.issue_id], field.name)
    assert [link.issue_id for link in views.links(store, states, route="/other")] == ["i2"]
    assert not views.links(store, states, service="another")


def test_what_waits_is_counted_as_it_is_listed(store: Store) -> None:
    assert views.waiting(store) == views.Waiting(new_issues=0, proposed_cases=0)
    keep(store, [], issue("i1", members=8))
    keep(store, [], issue("i2", members=8, merged_into="i1"))
    keep(store, [], issue("i3", members=8, state=IssueState.RESOLVED))
    keep(store, [], issue("i4", members=7))
    keep(store, [], issue("i5", members=3, incident_id="n1"))
    proposed = GoldenCase(case_id="c1", question="?", state=CaseState.PROPOSED)
    cases = [proposed, replace(proposed, case_id="c2"), replace(proposed, case_id="c3")]
    golden.write(store, NOW * NANOS, cases=cases)
    signed = replace(proposed, revision=2, state=CaseState.SIGNED)
    golden.write(store, (NOW + 1) * NANOS, cases=[signed])
    assert views.waiting(store) == views.Waiting(new_issues=2, proposed_cases=2)
