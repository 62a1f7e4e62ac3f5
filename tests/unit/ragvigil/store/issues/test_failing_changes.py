"""Failing records are found once, again when they fail otherwise, and leave when they pass."""

from __future__ import annotations

from dataclasses import replace

from ragvigil.model.feedback import FeedbackEvent
from ragvigil.model.score import Kind, Layer, Score, Stream
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import checkpoints, issues
from ragvigil.store.issues import failing_changes as failing
from ragvigil.store.issues import failing_rows as failed
from ragvigil.store.records import feedback
from ragvigil.store.records.traces import RubricFacts, TraceRows
from ragvigil.store.scores import judged, rollups
from tests.failure_rows import issue, kept_failure, member
from tests.judged import ids
from tests.outcomes import NOW, SECOND, outcome_of

FACTS = {"citation_validity": RubricFacts(version="1", fails_below=0.5)}
BARS = {"citation_validity": 0.5, "groundedness": 0.8}
MINUTE = NOW // SECOND // 60 * 60


def keep(store: Store, *numbers: int, spans: int = 2, **more: object) -> None:
    rows = TraceRows(FACTS)
    for number in numbers:
        rows.add(outcome_of(number, spans=spans, **more))  # type: ignore[arg-type]
    store.write(rows.take())


def look(store: Store, limit: int = 100) -> list[failing.Change]:
    return failing.changes(store, [MINUTE], BARS, limit)


def remember(store: Store, *changes: failing.Change) -> None:
    """Writes the failures of these changes as a job would."""
    made = [
        replace(kept_failure(int(change.trace_id, 16)), digest=change.digest)
        for change in changes
        if change.digest
    ]
    store.write(issues.batch(NOW, failures=made))


def test_failing_records_are_found_until_they_are_remembered(store: Store) -> None:
    keep(store, 1, 2)
    keep(store, 3, value=0.75)
    found = look(store)
    assert [change.key for change in found] == [ids(1), ids(2)]
    assert [change.key for change in look(store, limit=1)] == [ids(1)]
    remember(store, found[0])
    assert [change.key for change in look(store)] == [ids(2)]


def test_what_did_not_reach_the_prompt_fails_no_record(store: Store) -> None:
    keep(store, 1, label="override,outside_prompt")
    keep(store, 2, label="override")
    keep(store, 3, label="not_outside_prompt")
    assert [change.key for change in look(store)] == [ids(2), ids(3)]


def test_a_failing_record_is_read_with_what_tells_why(store: Store) -> None:
    keep(store, 1)
    (found,) = failing.read(store, look(store), BARS)
    stored = outcome_of(1).records[0].record
    assert (found.record.query, found.record.route) == (stored.query, stored.route)
    assert [document.chunk_id for document in found.record.context] == ["refund-02"]
    assert found.record.absent == stored.absent
    (score,) = found.scores
    assert (score.rubric, score.value, score.label) == (
        "citation_validity",
        0.25,
        "quote_not_found",
    )
    assert (score.explanation, score.details) == ("why", {"failed": [1]})
    assert found.time_unix_nano == NOW
    assert found.received == NOW // SECOND


def test_how_often_a_route_fails_a_rubric_is_known_and_a_few_records_say_little(
    store: Store,
) -> None:
    keep(store, 1, 2, 3)
    keep(store, 4, value=0.75)
    rollups.recompute(store, {MINUTE}, version=1)
    record = outcome_of(1).records[0].record
    place = (record.service, record.environment, record.route)
    assert failing.usual_shares(store, MINUTE) == {place: {"citation_validity": 3 / 24}}
    assert failing.usual_shares(store, MINUTE + 60) == {}


def test_a_record_that_is_scored_again_and_passes_leaves_its_issue(store: Store) -> None:
    keep(store, 1, 2)
    remember(store, *look(store))
    members = [(kept_failure(number), member(number, "i")) for number in (1, 2)]
    store.write(issues.batch(NOW, members=members, issues=[issue("i")]))
    keep(store, 1, spans=3, value=1.0)
    (gone,) = look(store)
    assert (gone.key, gone.digest) == (ids(1), 0)
    for _ in range(2):
        failing.bury(store, [gone], NOW + 1)
    assert [
        kept.failure.key for kept in failed.find(store, failed.FailureFilter(issue_ids=("i",)))
    ] == [ids(2)]
    assert look(store) == []
    keep(store, 1, spans=4)
    assert [change.key for change in look(store)] == [ids(1)]


def test_a_late_verdict_makes_a_record_fail(store: Store) -> None:
    keep(store, 1, value=1.0)
    assert look(store) == []
    stored = judged.read(store, [ids(1)])[ids(1)]
    verdict = Score(
        rubric="groundedness",
        value=0.2,
        layer=Layer.GENERATION,
        scorer="openai:m",
        kind=Kind.JUDGE,
        stream=Stream.BOOST,
        inclusion_probability=0.05,
        details={"failure_mode": "invents a fee"},
    )
    others = [
        replace(verdict, kind=Kind.MODEL, scorer="minilm"),
        replace(verdict, stream=Stream.PROXY),
        replace(verdict, stream=Stream.AUDIT),
    ]
    judged.write(store, [(stored, others)], {})
    assert look(store) == []
    judged.write(store, [(stored, [verdict])], {})
    (found,) = failing.read(store, look(store), BARS)
    assert found.scores == (verdict,)


def test_a_complaint_makes_a_record_fail_and_names_its_minute(store: Store) -> None:
    keep(store, 1, 2, value=1.0)
    told = FeedbackEvent(
        feedback_id="f",
        kind="thumbs",
        value=0.0,
        comment="wrong",
        time_unix_nano=NOW,
        response_id=f"resp-{f'{1:032x}'[-4:]}",
    )
    assert failing.minutes_disliked(store, NOW / SECOND - 60, 0) == []
    store.write(feedback.batch([told], NOW))
    assert failing.minutes_disliked(store, NOW / SECOND - 60, 0) == [MINUTE]
    assert failing.minutes_disliked(store, NOW / SECOND + 60, 0) == []
    assert failing.minutes_disliked(store, NOW / SECOND - 60, MINUTE + 60) == []
    (found,) = failing.read(store, look(store), BARS)
    assert found.record.record_id == ids(1)[1]
    assert [(event.value, event.comment) for event in found.record.feedback] == [(0.0, "wrong")]


def test_a_bar_that_is_lowered_lets_records_pass(store: Store) -> None:
    keep(store, 1)
    assert len(failing.changes(store, [MINUTE], {"citation_validity": 0.2}, 10)) == 0
    assert failing.changes(store, [MINUTE], {}, 10) == []
    assert failing.changes(store, [], BARS, 10) == []


def test_minutes_are_told_by_the_version_of_their_rollups(store: Store) -> None:
    keep(store, 1)
    keep(store, 2, time_unix_nano=NOW - 3600 * SECOND)
    early = MINUTE - 3600
    rollups.recompute(store, [early], version=5)
    rollups.recompute(store, [MINUTE], version=9)
    assert failing.minutes_changed(store, 0) == {early: 5, MINUTE: 9}
    assert failing.minutes_changed(store, 5) == {MINUTE: 9}
    assert failing.minutes_changed(store, 0, since=MINUTE) == {MINUTE: 9}


def test_a_reader_goes_on_where_it_stood(store: Store) -> None:
    assert checkpoints.position(store, "issues") is None
    for later, place in enumerate((7, 2**63)):
        checkpoints.mark(store, "issues", place, NOW + later)
    assert checkpoints.position(store, "issues") == 2**63
