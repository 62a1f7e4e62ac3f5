"""Labels in the embedded store, and the judges' verdicts that they are held against."""

from __future__ import annotations

from dataclasses import replace

from ragvigil.model.score import Kind, Stream
from ragvigil.store.engine import retention
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import labels, verdicts
from tests.judged import JUDGE, ids, keep_judged, verdict
from tests.outcomes import NOW, SECOND


def label(name: str, number: int = 1, value: float | None = 1.0, **more: object) -> labels.Label:
    trace_id, record_id = ids(number)
    made = labels.Label(
        label_id=name,
        rubric="groundedness",
        trace_id=trace_id,
        record_id=record_id,
        value=value,
        time_unix_nano=NOW,
    )
    return replace(made, **more)  # type: ignore[arg-type]


def test_a_label_comes_back_as_it_was_told_and_replaces_itself(store: Store) -> None:
    first = label("a", value=None, label="refused", labeller="ada", comment="naïve “quote”")
    store.write(labels.batch([first], NOW))
    assert labels.find(store, labels.LabelFilter()) == [first]
    second = replace(first, value=0.25, label="")
    store.write(labels.batch([second], NOW + 1))
    assert labels.find(store, labels.LabelFilter()) == [second]


def test_labels_are_found_by_rubric_trace_labeller_and_time(store: Store) -> None:
    told = [
        label("a", 1, labeller="ada", time_unix_nano=NOW),
        label("b", 2, labeller="bob", time_unix_nano=NOW - SECOND),
        label("c", 3, rubric="completeness", time_unix_nano=NOW - 3600 * SECOND),
    ]
    store.write(labels.batch(told, NOW))

    def found(**wanted: object) -> str:
        rows = labels.find(store, labels.LabelFilter(**wanted))  # type: ignore[arg-type]
        return "".join(label.label_id for label in rows)

    assert found() == "abc"
    assert found(rubric="groundedness") == "ab"
    assert found(trace_id=ids(2)[0]) == "b"
    assert found(labeller="ada") == "a"
    assert found(since=NOW // SECOND - 60) == "ab"
    assert found(limit=1) == "a"


def test_the_newest_labels_are_those_of_each_rubric(store: Store) -> None:
    told = [label(f"a{place}", time_unix_nano=NOW + place) for place in range(5)]
    told += [label("z", rubric="completeness", time_unix_nano=NOW - SECOND)]
    store.write(labels.batch(told, NOW))
    found = labels.newest(store, each=2)
    assert [label.label_id for label in found] == ["a4", "a3", "z"]


def test_verdicts_of_labelled_traces_are_the_judges_alone(store: Store) -> None:
    local = verdict(0.3, judge="sentences", kind=Kind.MODEL)
    keep_judged(
        store,
        {
            1: [verdict(0.9), local],
            2: [verdict(0.4, stream=Stream.SUSPICIOUS, label="contradicted")],
            3: [verdict(None)],
            4: [verdict(0.1)],
        },
    )
    asked = [ids(number)[0] for number in (1, 2, 3)]
    found = verdicts.of_traces(store, asked, ["groundedness"])
    assert [(verdict.value, verdict.stream, verdict.label) for verdict in found] == [
        (0.9, Stream.BASE, ""),
        (0.4, Stream.SUSPICIOUS, "contradicted"),
    ]
    assert {verdict.segment for verdict in found} == {f"r1 {JUDGE}1"}
    assert verdicts.of_traces(store, asked, ["completeness"]) == []


def test_who_judges_and_what_they_said_in_sum(store: Store) -> None:
    keep_judged(
        store,
        {
            1: [verdict(1.0), verdict(0.6, judge="openai:other")],
            2: [verdict(0.5), verdict(0.2, judge="sentences", kind=Kind.MODEL)],
            3: [verdict(0.0, stream=Stream.SUSPICIOUS)],
            4: [verdict(None)],
        },
    )
    since = NOW // SECOND - 3600
    found = verdicts.judges(store, since)
    assert [(verdict.rubric, verdict.scorer, verdict.version) for verdict in found] == [
        ("groundedness", JUDGE, "1"),
        ("groundedness", "openai:other", "1"),
    ]
    sums = verdicts.sums(store, since, ["groundedness"])
    assert sums["groundedness", found[0].segment] == verdicts.Sums(
        n=2, total=1.5, squares=1.25, failed=1
    )
    assert verdicts.judges(store, NOW // SECOND + 3600) == []


def test_recent_verdicts_come_with_what_cheap_scorers_said_of_the_same(store: Store) -> None:
    keep_judged(
        store,
        {
            1: [verdict(1.0), verdict(0.2, judge="sentences", kind=Kind.MODEL)],
            2: [verdict(0.2, judge="sentences", kind=Kind.MODEL)],
        },
    )
    found = verdicts.recent(store, NOW // SECOND - 3600)
    assert sorted((verdict.kind, verdict.value) for verdict in found) == [
        ("judge", 1.0),
        ("model", 0.2),
    ]
    assert {verdict.trace_id for verdict in found} == {ids(1)[0]}
    assert {verdict.route for verdict in found} == {"/ask"}


def test_labels_are_kept_as_long_as_deltas(store: Store) -> None:
    assert retention.KEPT["labels"] == ("deltas_days", "toDate(received)")
    assert retention.apply_days(store) == []
