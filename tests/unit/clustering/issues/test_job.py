"""From stored records to issues, turn after turn, on the embedded store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import pytest
from prometheus_client import REGISTRY

from clustering.grouping.cluster import Clustering
from clustering.grouping.vectors import Vectors
from clustering.issues.job import IssueJob
from clustering.issues.verbs import UnknownIssue, VerbDoesNotFit
from clustering.settings import ClusteringSettings
from ragvigil.inference.outcome import Reason, Unavailable
from ragvigil.model.feedback import FeedbackEvent
from ragvigil.model.issue import (
    Failure,
    Issue,
    IssueEvent,
    IssueState,
    IssueVerb,
    MemberBy,
    PairVerdict,
)
from ragvigil.model.outcome import Outcome
from ragvigil.store.engine.errors import StoreError
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import failing_rows as failed
from ragvigil.store.issues import issues
from ragvigil.store.issues.failing_rows import KeptFailure, MemberOf
from ragvigil.store.records import feedback
from ragvigil.store.records.traces import RubricFacts, TraceRows
from ragvigil.store.scores import rollups
from tests.judged import ids
from tests.outcomes import NOW, SECOND, outcome_of
from tests.word_vectors import WordVectors

BARS = {"citation_validity": 0.5}
FACTS = {"citation_validity": RubricFacts(version="1", fails_below=0.5)}
SETTINGS = ClusteringSettings(residue_records=20)
QUOTES = "the quoted words stand in no chunk that was retrieved"
NUMBERS = "a citation number points past the end of the list"
HOUR, DAY = 3600, 86_400


def by_reason(vectors: Vectors, _: Sequence[int]) -> Clustering | Unavailable:
    """Clusters equal vectors."""
    labels = np.unique(vectors.round(4), axis=0, return_inverse=True)[1].astype(np.int32)
    ones = np.ones(len(vectors), np.float32)
    soft = np.eye(labels.max() + 1, dtype=np.float32)[labels]
    return Clustering(labels=labels, strengths=ones, memberships=soft)


def noise(count: int) -> Clustering:
    return Clustering(
        labels=np.full(count, -1, np.int32),
        strengths=np.zeros(count, np.float32),
        memberships=np.zeros((count, 0), np.float32),
    )


@dataclass(kw_only=True)
class Works:
    """The issue job from a start to the next, over a store."""

    store: Store
    model: WordVectors = field(default_factory=WordVectors)
    now: float = NOW / SECOND
    settings: ClusteringSettings = SETTINGS
    cluster: Callable[[Vectors, Sequence[int]], Clustering | Unavailable] = by_reason
    joined: list[Failure] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.job = IssueJob(
            self.store,
            self.model,
            self.settings,
            BARS,
            self.cluster,
            lambda: self.now,
            self.joined.extend,
        )

    def turn(self) -> None:
        self.now += 60
        self.job.run()

    def next_life(self) -> Works:
        return replace(self, model=WordVectors(self.model.version), joined=[])

    def issues(self) -> list[Issue]:
        return issues.find(self.store, issues.IssueFilter())

    def events(self, issue: Issue) -> list[IssueEvent]:
        return issues.events(self.store, issue.issue_id)


@pytest.fixture
def works(store: Store) -> Works:
    return Works(store=store)


def failing(number: int, reason: str = QUOTES, **more: object) -> Outcome:
    """A record that fails `citation_validity` for this reason."""
    outcome = outcome_of(number, **more)  # type: ignore[arg-type]
    (scored,) = outcome.records
    first, *rest = scored.scores
    scores = (replace(first, explanation=reason), *rest)
    return replace(outcome, records=(replace(scored, scores=scores),))


def keep(store: Store, *outcomes: Outcome) -> None:
    rows = TraceRows(FACTS)
    for outcome in outcomes:
        rows.add(outcome)
    store.write(rows.take())
    rollups.recompute(store, {outcome.time_unix_nano // SECOND // 60 * 60 for outcome in outcomes})


def placed(store: Store, **wanted: object) -> dict[int, KeptFailure]:
    rows = failed.find(store, failed.FailureFilter(**wanted))  # type: ignore[arg-type]
    return {int(row.failure.trace_id, 16): row for row in rows}


def where(store: Store) -> dict[int, str]:
    return {
        number: row.membership.issue_id if row.membership else ""
        for number, row in placed(store).items()
    }


def many(first: int, count: int, reason: str, **more: object) -> list[Outcome]:
    return [failing(number, reason, **more) for number in range(first, first + count)]


def test_three_records_of_one_key_are_a_provisional_issue(works: Works) -> None:
    keep(works.store, failing(1), failing(2))
    works.turn()
    assert works.issues() == []
    assert where(works.store) == {1: "", 2: ""}
    keep(works.store, failing(3, route="/chat"))
    works.turn()
    (issue,) = works.issues()
    assert (issue.members, issue.is_provisional, issue.state) == (3, True, IssueState.NEW)
    assert issue.routes == ("/ask", "/chat")
    assert set(where(works.store).values()) == {issue.issue_id}
    assert [event.verb for event in works.events(issue)] == [IssueVerb.OPENED]
    assert len(works.joined) == 3
    keep(works.store, failing(4))
    works.turn()
    assert [issue.members for issue in works.issues()] == [4]


def test_without_local_models_there_are_issues_by_key_all_the_same(store: Store) -> None:
    works = Works(store=store, model=WordVectors(""))
    keep(store, *many(1, 3, QUOTES))
    works.turn()
    assert [issue.members for issue in works.issues()] == [3]
    status = works.job.status()
    assert status["waiting_for_vectors"] == 3
    assert "switched off" in str(status["no_vectors"])
    works.model.version = "words-1"
    works.turn()
    assert {row.vector_model for row in placed(store).values()} == {"words-1 labelled"}
    assert works.job.status()["waiting_for_vectors"] == 0


def test_what_is_looked_at_twice_is_counted_once(works: Works) -> None:
    keep(works.store, *many(1, 4, QUOTES))
    works.turn()
    keep(works.store, failing(5, value=1.0))
    works.turn()
    again = works.next_life()
    again.turn()
    assert [issue.members for issue in again.issues()] == [4]
    assert [issue.members for issue in again.job.issues()] == [4]
    assert again.joined == []


def test_a_record_that_passes_after_all_leaves_its_issue(works: Works) -> None:
    keep(works.store, *many(1, 4, QUOTES))
    works.turn()
    keep(works.store, failing(2, spans=3, value=1.0))
    works.turn()
    assert sorted(where(works.store)) == [1, 3, 4]
    assert [issue.members for issue in works.issues()] == [3]


def test_a_record_that_fails_otherwise_changes_its_issue(works: Works) -> None:
    keep(works.store, *many(1, 4, QUOTES), *many(11, 3, NUMBERS, label="dangling"))
    works.turn()
    before = where(works.store)
    assert before[1] != before[11]
    keep(works.store, failing(4, NUMBERS, label="dangling", spans=3))
    works.turn()
    assert where(works.store)[4] == before[11]
    assert {issue.label: issue.members for issue in works.issues()} == {
        "quote_not_found": 3,
        "dangling": 4,
    }


def test_a_complaint_makes_a_failing_record(works: Works) -> None:
    keep(works.store, *(failing(number, value=1.0) for number in range(1, 4)))
    works.turn()
    assert where(works.store) == {}
    events = [
        FeedbackEvent(
            feedback_id=str(n), kind="thumbs", value=0.0, time_unix_nano=NOW, trace_id=ids(n)[0]
        )
        for n in range(1, 4)
    ]
    works.store.write(feedback.batch(events, int(works.now * SECOND)))
    works.turn()
    (issue,) = works.issues()
    assert (issue.rubric, issue.label, issue.members) == ("", "thumbs_down", 3)


def test_a_turn_takes_so_many_records_and_the_next_goes_on(store: Store) -> None:
    works = Works(store=store, settings=ClusteringSettings(records=10))
    keep(store, *(failing(n, time_unix_nano=NOW - (40 - n) * HOUR * SECOND) for n in range(1, 36)))
    assert works.job.pending_minutes is None
    works.turn()
    assert sorted(where(store)) == list(range(1, 11))
    assert works.job.pending_minutes == 26
    for _ in range(3):
        works.turn()
    assert sorted(where(store)) == list(range(1, 36))
    assert works.job.status()["pending_minutes"] == 0
    (issue,) = works.issues()
    assert issue.members == 35
    assert issue.first_unix_nano == NOW - 39 * HOUR * SECOND


def test_a_crash_after_failures_were_stored_loses_and_doubles_nothing(
    works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(works.store, *many(1, 4, QUOTES))

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("clustering.issues.matching.match_keys", crash)
    with pytest.raises(KeyboardInterrupt):
        works.turn()
    assert where(works.store) == dict.fromkeys(range(1, 5), "")
    monkeypatch.undo()
    again = works.next_life()
    for _ in range(2):
        again.turn()
    assert [issue.members for issue in again.issues()] == [4]


def test_a_turn_that_fails_is_made_good_by_the_next(
    works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(works.store, *many(1, 4, QUOTES))

    def fail(*_: object) -> None:
        raise StoreError("the store is away")

    monkeypatch.setattr("clustering.issues.matching.match_keys", fail)
    with pytest.raises(StoreError):
        works.turn()
    monkeypatch.undo()
    works.turn()
    assert [issue.members for issue in works.issues()] == [4]


def test_a_record_that_passes_while_it_waits_for_vectors_does_not_come_back(store: Store) -> None:
    works = Works(store=store, model=WordVectors(""))
    keep(store, *many(1, 4, QUOTES))
    works.turn()
    works.model.version = "words-1"
    keep(store, failing(2, spans=3, value=1.0))
    works.turn()
    assert sorted(where(store)) == [1, 3, 4]


def test_a_crash_between_members_and_their_issue_counts_nobody_twice(works: Works) -> None:
    keep(works.store, *many(1, 4, QUOTES))
    works.turn()
    (issue,) = works.issues()
    works.store.change("TRUNCATE TABLE issues")
    again = works.next_life()
    again.turn()
    assert [(issue.issue_id, issue.members) for issue in again.issues()] == [(issue.issue_id, 4)]


def clustered(works: Works) -> dict[str, Issue]:
    """Two causes of one key that became two lasting issues, by a member of each."""
    keep(works.store, *many(1, 15, QUOTES), *many(101, 12, NUMBERS))
    works.turn()
    (provisional,) = works.issues()
    assert provisional.members == 27
    works.job.cluster()
    homes = where(works.store)
    known = {issue.issue_id: issue for issue in works.issues()}
    assert homes[1] == provisional.issue_id
    return {"quotes": known[homes[1]], "numbers": known[homes[101]]}


def test_clusters_refine_a_provisional_issue_and_what_is_another_cause_leaves_it(
    works: Works,
) -> None:
    by_cause = clustered(works)
    quotes, numbers = by_cause["quotes"], by_cause["numbers"]
    assert (quotes.members, numbers.members) == (15, 12)
    assert not quotes.is_provisional
    assert not numbers.is_provisional
    assert [event.verb for event in works.events(quotes)] == [IssueVerb.OPENED, IssueVerb.REFINED]
    assert [event.verb for event in works.events(numbers)] == [IssueVerb.OPENED]
    assert {row.membership.by for row in placed(works.store).values() if row.membership} == {
        MemberBy.CLUSTERED
    }


def test_new_records_join_the_lasting_issue_that_is_near(works: Works) -> None:
    by_cause = clustered(works)
    keep(works.store, failing(201, NUMBERS), failing(202, QUOTES))
    again = works.next_life()
    again.turn()
    assert where(works.store)[201] == by_cause["numbers"].issue_id
    assert where(works.store)[202] == by_cause["quotes"].issue_id
    by = placed(works.store)[201].membership
    assert by is not None
    assert by.by is MemberBy.ASSIGNED
    assert {issue.members for issue in again.issues()} == {13, 16}


def test_nothing_is_clustered_below_the_least_number_nor_twice(works: Works) -> None:
    calls: list[int] = []

    def counting(vectors: Vectors, _: Sequence[int]) -> Clustering | Unavailable:
        calls.append(len(vectors))
        return Unavailable(reason=Reason.TIMED_OUT, detail="clustering was not done in time")

    works = replace(works, cluster=counting)
    keep(works.store, *many(1, 19, QUOTES))
    works.turn()
    works.job.cluster()
    assert calls == []
    keep(works.store, failing(20))
    works.turn()
    for _ in range(2):
        works.job.cluster()
    assert calls == [20]
    assert works.job.status()["no_clusters"] == "clustering was not done in time"
    works.now += HOUR
    works.job.cluster()
    assert calls == [20, 20]
    assert [issue.members for issue in works.issues()] == [20]


def test_an_hour_without_anything_new_is_not_clustered_again(works: Works) -> None:
    calls: list[int] = []

    def counting(vectors: Vectors, _: Sequence[int]) -> Clustering | Unavailable:
        calls.append(len(vectors))
        return noise(len(vectors))

    works = replace(works, cluster=counting)
    keep(works.store, *many(1, 20, QUOTES))
    works.turn()
    for _ in range(2):
        works.job.cluster()
        works.now += HOUR
    assert calls == [20]
    keep(works.store, failing(21))
    works.turn()
    works.job.cluster()
    assert calls == [20, 21]


def test_who_joined_an_issue_while_the_others_were_clustered_stays_there(works: Works) -> None:
    def slow(vectors: Vectors, strata: Sequence[int]) -> Clustering | Unavailable:
        keep(works.store, failing(1, spans=3, value=1.0))
        late.turn()
        return by_reason(vectors, strata)

    late = replace(works)
    late.cluster = slow
    late.__post_init__()
    keep(works.store, *many(1, 15, QUOTES), *many(101, 12, NUMBERS))
    late.turn()
    late.job.cluster()
    assert 1 not in where(works.store)
    assert sorted(issue.members for issue in late.issues()) == [12, 14]


def test_another_embedding_model_gives_new_vectors_and_keeps_the_issues(works: Works) -> None:
    by_cause = clustered(works)
    again = replace(works, model=WordVectors("words-2"), joined=[])
    keep(works.store, failing(201, NUMBERS))
    for _ in range(2):
        again.turn()
    assert {row.vector_model for row in placed(works.store).values()} == {"words-2 labelled"}
    assert {issue.vector_model for issue in again.issues()} == {"words-2 labelled"}
    keep(works.store, failing(202, NUMBERS))
    again.turn()
    assert where(works.store)[202] == by_cause["numbers"].issue_id
    assert where(works.store)[1] == by_cause["quotes"].issue_id


def test_what_is_in_no_issue_is_counted_by_family_and_by_what_became_of_the_rest(
    works: Works,
) -> None:
    def sample(name: str, **labels: str) -> float:
        return REGISTRY.get_sample_value(f"ragvigil_clustering_{name}", labels) or 0.0

    family = {"family": "cross_cutting"}
    before = sample("failures_total", placed="key", **family)
    keep(works.store, *many(1, 3, QUOTES), *many(11, 2, NUMBERS, label="dangling"))
    works.turn()
    assert sample("ungrouped", **family) == 2
    assert sample("failures_total", placed="key", **family) == before + 3
    keep(works.store, failing(13, NUMBERS, label="dangling"))
    works.turn()
    assert sample("ungrouped", **family) == 0


def test_people_act_on_issues_and_a_new_life_knows_it(works: Works) -> None:
    issue = clustered(works)["quotes"]
    act = partial(works.job.act, issue.issue_id)
    act(IssueVerb.ACKNOWLEDGE, "ada")
    act(IssueVerb.RENAME, "ada", name="Quotes from nowhere")
    again = works.next_life()
    known = {issue.issue_id: issue for issue in again.job.issues()}[issue.issue_id]
    assert (known.state, known.assignee) == (IssueState.ACKNOWLEDGED, "ada")
    assert known.name == "Quotes from nowhere"
    with pytest.raises(UnknownIssue):
        works.job.act("none", IssueVerb.ACKNOWLEDGE, "ada")
    with pytest.raises(VerbDoesNotFit):
        act(IssueVerb.MERGE, "ada", other=issue.issue_id)


def test_a_merge_is_a_redirect_and_its_undoing_exact(works: Works) -> None:
    by_cause = clustered(works)
    names = (by_cause["quotes"].issue_id, by_cause["numbers"].issue_id)
    merged = works.job.act(names[1], IssueVerb.MERGE, "ada", other=names[0])
    assert merged.members == 27
    assert [issue.issue_id for issue in works.issues()] == [merged.issue_id]
    keep(works.store, failing(201, QUOTES))
    works.turn()
    assert where(works.store)[201] == merged.issue_id
    (gone,) = {*names} - {merged.issue_id}
    apart = works.job.act(gone, IssueVerb.UNMERGE, "ada")
    assert apart.merged_into == ""
    assert sum(issue.members for issue in works.issues()) == 28
    (pair,) = issues.pairs(works.store)
    assert pair.verdict is PairVerdict.APART


def test_issues_that_are_alike_are_proposed_once(works: Works) -> None:
    by_cause = clustered(works)
    known = {issue.issue_id: issue for issue in works.job.issues()}
    centroid = known[by_cause["quotes"].issue_id].centroid
    near = replace(known[by_cause["numbers"].issue_id], centroid=centroid)
    works.store.write(issues.batch(int(works.now + 1) * SECOND, issues=[near]))
    again = works.next_life()
    keep(works.store, failing(201, QUOTES))
    again.turn()
    for _ in range(2):
        again.job.propose()
    (pair,) = issues.pairs(works.store)
    assert (pair.verdict, round(pair.likeness, 2)) == (PairVerdict.PROPOSED, 1.0)
    again.job.act(pair.merged, IssueVerb.UNMERGE, "ada", other=pair.kept)
    (pair,) = issues.pairs(works.store)
    assert pair.verdict is PairVerdict.APART
    again.job.propose()
    assert issues.pairs(works.store) == [pair]


def test_an_issue_that_may_be_several_is_said_so_once_not_every_night(works: Works) -> None:
    keep(works.store, *many(1, 40, QUOTES), *many(101, 30, NUMBERS))
    works.turn()
    works.job.cluster()
    first, other = (issue.issue_id for issue in works.issues())
    merged = works.job.act(first, IssueVerb.MERGE, "ada", other=other)
    for _ in range(2):
        works.now += DAY
        works.job.propose()
    events = [event.text for event in works.events(merged) if event.verb is IssueVerb.SPLIT]
    assert events == ["may be 2 causes: groups of 40, 30 members are unlike"]


def test_a_resolved_issue_that_comes_back_is_the_same_one(works: Works) -> None:
    keep(works.store, *many(1, 5, QUOTES))
    works.turn()
    (issue,) = works.issues()
    works.job.act(issue.issue_id, IssueVerb.RESOLVE, "ada")
    later = int(works.now * SECOND) + HOUR * SECOND
    works.now += HOUR
    keep(works.store, *many(11, 4, QUOTES, time_unix_nano=later))
    works.turn()
    assert [issue.state for issue in works.issues()] == [IssueState.RESOLVED]
    keep(works.store, *many(21, 4, QUOTES, time_unix_nano=later))
    works.turn()
    (back,) = works.issues()
    assert (back.issue_id, back.state) == (issue.issue_id, IssueState.REGRESSED)


def test_old_traffic_that_is_sent_at_once_keeps_its_own_times(works: Works) -> None:
    times = [NOW - day * DAY * SECOND for day in range(8, 0, -1)]
    keep(works.store, *(failing(n, time_unix_nano=t) for n, t in enumerate(times, 1)))
    for _ in range(2):
        works.turn()
    (issue,) = works.issues()
    assert (issue.first_unix_nano, issue.last_unix_nano) == (times[0], times[-1])
    assert len(placed(works.store, placed=MemberOf.LOOSE)) == 0
