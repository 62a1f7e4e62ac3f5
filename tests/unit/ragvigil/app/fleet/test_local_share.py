"""Scorers share what edges stored; an edge takes its own answers once no scorer lives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from prometheus_client import REGISTRY

from ragvigil.app.fleet import local_share
from ragvigil.app.fleet.local_share import KEPT_FREE, WINDOW_SECONDS, LocalShare
from ragvigil.model.score import Score
from ragvigil.store.engine.store import Priority, Store
from ragvigil.store.fleet.members import Member
from ragvigil.store.records.traces import RubricFacts, TraceRows
from ragvigil.store.scores import judged
from ragvigil.store.scores.judged import StoredRecord
from scorers.judge.sampling import is_sampled
from scorers.local.job import LocalScoring, Source
from tests.outcomes import NOW, SECOND, outcome_of
from tests.replicas import of_replica
from tests.unit.ragvigil.store.fleet.test_members_and_minutes import told
from tests.word_vectors import WordVectors

FACTS = {"citation_validity": RubricFacts(version="1", fails_below=0.5)}
SALT = "s"
MINUTE = NOW // SECOND // 60 * 60


@dataclass(kw_only=True)
class Daemon:
    """A daemon's local models and its share; a test says who lives by `members`."""

    store: Store
    name: str
    role: str = "scorer"
    has_models: bool = True
    now: float = NOW / SECOND
    members: Sequence[Member] = ()
    scored: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        store = of_replica(self.store, self.name)

        def deliver(verdicts: Sequence[tuple[StoredRecord, Sequence[Score]]]) -> None:
            judged.write(store, verdicts, FACTS)
            self.scored += [stored.record.record_id for stored, _ in verdicts]

        self.local = LocalScoring(
            WordVectors(),
            (self.name, 1),
            deliver,
            judged=(),
            salt=SALT,
            least_rate=0.0,
            has_models=self.has_models,
        )
        self.share = LocalShare(
            store,
            self.local,
            lambda: self.members,
            lambda trace_id: is_sampled(trace_id, self.local.rate, SALT),
            lambda: self.now,
            is_scorer=self.role == "scorer",
        )

    def turn(self, *members: Member) -> None:
        """Runs the share's job once while these live, then has the models score what waits."""
        self.members = members or self.members
        self.share.run()
        while self.local.step():
            pass


def member(name: str, role: str = "scorer", *, is_live: bool = True) -> Member:
    return Member(replica=name, roles=(role,), age_seconds=0 if is_live else 99)


def stored(store: Store, numbers: Sequence[int], replica: str = "edge-1", **which: Any) -> set[str]:
    """Has an edge store answers; returns the ids of their records."""
    rows = TraceRows(FACTS, replica=replica)
    for number in numbers:
        rows.add(outcome_of(number, **which))
    store.write(rows.take())
    return {f"{number:08x}{0:08x}" for number in numbers}


def rows(store: Store) -> list[dict[str, Any]]:
    """The local scores that are stored."""
    columns = (
        *("record_id", "rubric", "scorer", "version", "segment", "kind", "stream", "value"),
        *("inclusion_probability", "generation", "replica"),
    )
    asked = f"SELECT {', '.join(columns)} FROM scores WHERE kind = 'model' ORDER BY ALL"
    found = store._ask("rows", lambda client: client.query(asked).result_rows, Priority.PAGE)
    return [dict(zip(columns, row, strict=True)) for row in found]


def left_out(why: str) -> float:
    return REGISTRY.get_sample_value("ragvigil_local_records_total", {"result": why}) or 0.0


def test_a_scorer_scores_each_stored_answer_once(store: Store) -> None:
    scorer = Daemon(store=store, name="scorer-1")
    scorer.turn()
    assert scorer.scored == [], "before its first beat it does not know who shares the work"
    first = stored(store, range(5))
    scorer.turn(member("scorer-1"), member("edge-1", "edge"))
    assert sorted(scorer.scored) == sorted(first)
    later = stored(store, range(5, 8))
    told(store, "edge-1", {MINUTE})
    scorer.turn()
    scorer.turn()
    assert sorted(scorer.scored) == sorted(first | later)


def test_its_rows_are_those_that_an_edge_writes(store: Store) -> None:
    stored(store, range(3))
    scorer = Daemon(store=store, name="scorer-1")
    scorer.turn(member("scorer-1"))
    by_scorer = rows(store)
    edge = Daemon(store=store, name="edge-1", role="edge")
    edge.turn(member("edge-1", "edge"))
    edge.local.offer([outcome_of(number) for number in range(3)])
    edge.turn()
    by_both = rows(store)
    by_edge = [row for row in by_both if row["replica"] == "edge-1"]
    assert len(by_edge) == len(by_scorer) == 9
    for row in (*by_scorer, *by_edge):
        del row["replica"]
    assert by_edge == by_scorer


def test_scorers_share_the_answers_and_take_over_from_one_that_is_gone(store: Store) -> None:
    every = stored(store, range(40))
    pair = member("scorer-1"), member("scorer-2")
    first = Daemon(store=store, name="scorer-1")
    first.turn(*pair)
    second = Daemon(store=store, name="scorer-2")
    second.members = pair
    assert 0 < len(first.scored) < 40
    alone = first.scored.copy()
    first.turn(member("scorer-1"), member("scorer-2", is_live=False))
    assert set(first.scored) == every
    assert len(first.scored) == 40
    second.turn()
    assert second.scored == [], "what another scored meanwhile is scored"
    more = stored(store, range(40, 80))
    told(store, "edge-1", {MINUTE})
    for each in (first, second):
        each.turn(*pair)
    assert set(first.scored[40:]) | set(second.scored) == more
    assert not set(first.scored[40:]) & set(second.scored)
    assert 8 < len(alone) < 32


def test_an_edge_scores_its_own_answers_while_no_scorer_lives(store: Store) -> None:
    edge = Daemon(store=store, name="edge-1", role="edge")
    others = stored(store, range(90, 95), replica="edge-2")
    early = stored(store, range(3))
    edge.local.offer([outcome_of(number) for number in range(3)])
    edge.turn(member("edge-1", "edge"), member("scorer-1"))
    assert edge.local.source is Source.ELSEWHERE
    assert (edge.scored, edge.local.offer_rate) == ([], 0.0)
    assert edge.local.status()["rate"] == 0.0
    edge.turn(member("edge-1", "edge"), member("scorer-1", is_live=False))
    assert set(edge.scored) == early, "what came since the scorer was lost"
    edge.local.offer([outcome_of(7)])
    edge.turn()
    assert len(edge.scored) == 4
    edge.local.offer([outcome_of(8)])
    edge.turn(member("edge-1", "edge"), member("scorer-1"))
    assert len(edge.scored) == 4, "what waited is the scorer's"
    assert not others & set(edge.scored)


def test_what_nobody_can_score_is_counted_and_made_up_for_by_a_scorer(store: Store) -> None:
    edge, before = Daemon(store=store, name="e", role="edge", has_models=False), left_out("scored")
    missing = left_out("without_models")
    every = stored(store, range(4), replica="e")
    edge.turn(member("e", "edge"))
    outcome = outcome_of(9)
    assert edge.local.samples(outcome)
    assert not edge.local.takes(outcome), "it is not kept in memory"
    edge.local.offer([outcome])
    edge.local.leave_out(2)  # as workers count those that they have not kept
    assert left_out("without_models") - missing == 4 + 1 + 2
    edge.turn(member("e", "edge"), member("scorer-1"))
    edge.local.offer([outcome])
    assert left_out("without_models") - missing == 7, "a scorer has it"
    scorer = Daemon(store=store, name="scorer-1")
    scorer.turn(member("scorer-1"))
    assert set(scorer.scored) == every
    assert left_out("scored") - before == 4


def test_what_a_scorer_has_no_time_for_is_left_out_by_age_and_counted(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_share, "MOST_WAITING", 2 * KEPT_FREE)
    many = 3 * KEPT_FREE
    counts = {why: left_out(why) for why in ("left_over", "too_old")}
    old = stored(store, range(many), time_unix_nano=NOW - 300 * SECOND)
    new = stored(store, range(many, many + 10), time_unix_nano=NOW)
    scorer = Daemon(store=store, name="scorer-1", members=[member("scorer-1")])
    scorer.share.run()
    assert left_out("left_over") - counts["left_over"] == 10 + many - 2 * KEPT_FREE
    scorer.now += WINDOW_SECONDS
    scorer.share.run()
    assert left_out("too_old") - counts["too_old"] == KEPT_FREE
    scorer.turn()
    assert new < set(scorer.scored), "the newest first"
    assert len(scorer.scored) == KEPT_FREE
    assert set(scorer.scored) - new < old


def test_an_import_gets_no_local_scores(store: Store) -> None:
    outcome = outcome_of(1)
    imported = TraceRows(FACTS, replica="edge-1")
    imported.add(replace(outcome, trace=replace(outcome.trace, backfill="import")))
    store.write(imported.take())
    scorer = Daemon(store=store, name="scorer-1")
    scorer.turn(member("scorer-1"))
    assert scorer.scored == []


def test_a_later_generation_of_an_answer_is_scored_again(store: Store) -> None:
    stored(store, [1])
    scorer = Daemon(store=store, name="scorer-1")
    scorer.turn(member("scorer-1"))
    stored(store, [1], spans=3)
    told(store, "edge-1", {MINUTE})
    scorer.turn()
    assert len(scorer.scored) == 2
    assert {row["generation"] for row in rows(store)} == {2, 3}


def test_the_sample_is_of_the_present_rate(store: Store) -> None:
    stored(store, range(60))
    scorer = Daemon(store=store, name="scorer-1")
    scorer.local.rate = 0.5
    scorer.turn(member("scorer-1"))
    expected = [f"{n:08x}{0:08x}" for n in range(60) if is_sampled(f"{n:032x}", 0.5, SALT)]
    assert sorted(scorer.scored) == expected
    assert {row["inclusion_probability"] for row in rows(store)} == {0.5}
