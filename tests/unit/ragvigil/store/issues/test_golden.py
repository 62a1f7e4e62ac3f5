"""Golden cases through the embedded store: every revision stays, the newest is read."""

from __future__ import annotations

import time
from dataclasses import replace

from ragvigil.model.golden import (
    CaseEvent,
    CaseRun,
    CaseState,
    CaseVerb,
    ExpectedFact,
    GoldenCase,
    QueryType,
)
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import golden
from ragvigil.store.issues.golden import CaseFilter

NOW = time.time_ns()
"""The tables forget what is 400 days old."""
CASE = GoldenCase(
    case_id="c1",
    question="Wie lange? 多久",
    gold_chunk_ids=("refund-02",),
    expected_facts=(ExpectedFact(text="5 days"), ExpectedFact(text="soon", is_vital=False)),
    tags=("edge",),
    query_type=QueryType.ADVERSARIAL,
    service="desk",
    issue_id="i1",
    proposed_by="ada",
    edited_by=("bob",),
    revision=1,
    more={"owner": [1, None, {"a": "b"}]},
)


def test_a_case_comes_back_whole(store: Store) -> None:
    golden.write(store, NOW + 1, cases=[CASE])
    assert golden.get(store, "c1") == CASE
    assert golden.get(store, "c2") is None
    assert golden.get(store, "") is None


def test_the_newest_revision_decides_and_the_older_ones_stay(store: Store) -> None:
    later = replace(CASE, revision=2, state=CaseState.REJECTED)
    golden.write(store, NOW + 2, cases=[later])
    golden.write(store, NOW + 3, cases=[CASE])
    assert golden.get(store, "c1") == later
    assert golden.find(store, CaseFilter(state="proposed")) == []
    assert golden.find(store, CaseFilter(state="rejected", service="desk", issue_id="i1")) == [
        later
    ]
    assert golden.find(store, CaseFilter(query_type="canonical")) == []


def test_a_later_step_stands_though_the_clock_went_back(store: Store) -> None:
    signed = replace(CASE, state=CaseState.SIGNED)
    golden.write(store, NOW, cases=[CASE])
    golden.write(store, NOW - 10**9, cases=[signed])
    golden.write(store, NOW + 10**9, cases=[CASE])
    assert golden.find(store, CaseFilter()) == [signed]


def test_events_and_runs_come_in_order(store: Store) -> None:
    events = [
        CaseEvent(case_id="c1", time_unix_nano=at, verb=verb, revision=1, actor="ada", text="x")
        for at, verb in ((1, CaseVerb.PROPOSE), (2, CaseVerb.EDIT), (3, CaseVerb.SIGN))
    ]
    runs = [
        CaseRun(case_id=name, time_unix_nano=at, against="target", is_pass=said, why="w")
        for name, at, said in (("c1", 1, None), ("c1", 2, False), ("c2", 1, True))
    ]
    golden.write(store, NOW, events=events, runs=runs)
    assert golden.events(store, "c1") == events
    assert golden.runs(store, "c1") == [runs[1], runs[0]]
    assert golden.newest_runs(store) == {"c1": runs[1], "c2": runs[2]}
