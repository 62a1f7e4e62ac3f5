"""Outcomes into rows and back: the real embedded engine."""

from __future__ import annotations

from ragvigil.model.outcome import Outcome, TraceOutcome
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.store import Store
from ragvigil.store.records import records, traces
from ragvigil.store.records.record_filter import RecordFilter
from ragvigil.store.records.traces import RubricFacts, TraceRows, counts
from ragvigil.store.scores import rollups
from tests.outcomes import CHUNK, NOW, SECOND, outcome_of, trace_of

FACTS = {"citation_validity": RubricFacts(version="3", fails_below=0.5)}
MINUTE = NOW // SECOND // 60 * 60


def write(store: Store, *outcomes: Outcome) -> None:
    rows = TraceRows(FACTS, replica="r1", epoch=7)
    for outcome in outcomes:
        rows.add(outcome)
    store.write(rows.take())


def count(store: Store, table: str) -> int:
    sql = f"SELECT count() FROM {table} FINAL"
    rows: list[list[int]] = store._ask("n", lambda c: c.query(sql).result_rows, Priority.SCAN)
    return rows[0][0]


def test_a_trace_comes_back_in_the_form_of_the_api(store: Store) -> None:
    write(store, outcome_of(1))
    found = records.trace(store, f"{1:032x}")
    assert found is not None
    (record,) = found["records"]
    assert record["query"] == "How long?"
    assert record["retrieved"][0] == {
        "id": "refund-02",
        "document_id": "refund",
        "content": CHUNK,
        "score": 0.5,
        "rank": 0,
        "metadata": {"page": 3},
    }
    assert record["retrieved"][1]["content"] is None
    assert record["citations"][0]["chunk_id"] == "refund-02"
    assert record["absent"] == {"usage": "not_sent"}
    assert record["shape"] == {"answer_characters": 28.0}
    by_rubric = {score["rubric"]: score for score in record["scores"]}
    assert by_rubric["citation_validity"]["value"] == 0.25
    assert by_rubric["citation_validity"]["failed"]
    assert by_rubric["citation_validity"]["segment"] == "r3 citations1"
    assert by_rubric["citation_validity"]["details"] == {"failed": [1]}
    assert by_rubric["chunk_utilization"]["value"] is None
    assert by_rubric["chunk_utilization"]["absent"] == "document_texts"


def test_a_trace_that_is_not_stored_is_none_and_one_without_records_is_empty(store: Store) -> None:
    write(store, outcome_of(2, records=0))
    assert records.trace(store, f"{9:032x}") is None
    assert records.trace(store, f"{2:032x}") == {"trace_id": f"{2:032x}", "records": []}


def test_a_text_is_stored_once_and_put_back_into_the_spans(store: Store) -> None:
    write(store, outcome_of(1), outcome_of(2))
    assert count(store, "documents") == 1
    sql = "SELECT SpanAttributes['input.value'] FROM otel_traces"
    raw = store._ask("raw", lambda c: c.query(sql).result_rows, Priority.SCAN)
    assert all(CHUNK not in value for (value,) in raw)
    for span in records.spans(store, f"{1:032x}"):
        assert span["SpanAttributes"]["input.value"] == f"Answer from: {CHUNK} Thanks."
        assert span["SpanAttributes"]["top_k"] == "4"
        assert CHUNK in span["Events.Attributes"][1]["log.body"]


def test_the_next_generation_replaces_scores_and_spans_and_buries_what_is_gone(
    store: Store,
) -> None:
    write(store, outcome_of(1, spans=2, records=2))
    rollups.recompute(store, [MINUTE])
    write(store, outcome_of(1, spans=3, value=None, records=1, gone=("0000000100000001",)))
    rollups.recompute(store, [MINUTE])
    assert count(store, "spans") == 3
    assert count(store, "scores") == 3
    assert count(store, "records") == 1
    assert count(store, "record_shapes") == 1
    found = rollups.counts(store, MINUTE, MINUTE + 60)
    assert found.n.sum() == 0
    stored = traces.lookup(store, [f"{1:032x}"])[f"{1:032x}"]
    assert (stored.generation, stored.record_ids) == (3, ("0000000100000000",))


def test_writing_the_same_again_changes_nothing(store: Store) -> None:
    for _ in range(3):
        write(store, outcome_of(1), outcome_of(2))
        rollups.recompute(store, [MINUTE])
    assert count(store, "spans") == 4
    assert rollups.counts(store, MINUTE, MINUTE + 60).n.sum() == 2


def test_a_generation_after_midnight_lies_with_the_first(store: Store) -> None:
    write(store, outcome_of(1, spans=2))
    later = outcome_of(1, spans=3, value=0.75)
    write(store, later)
    sql = "SELECT uniqExact(_partition_id) FROM scores"
    assert store._ask("p", lambda c: c.query(sql).result_rows, Priority.SCAN) == [(1,)]


def test_a_late_arrival_does_not_hide_what_is_stored(store: Store) -> None:
    write(store, outcome_of(1, spans=3))
    late = Outcome(trace=trace_of(1, spans=1), outcome=TraceOutcome.LATE, time_unix_nano=NOW)
    write(store, late)
    assert traces.lookup(store, [f"{1:032x}"])[f"{1:032x}"].generation == 3
    assert traces.counts(store) == {"late": 1, "scored": 1}


def test_what_was_received_since_is_known_for_a_replay(store: Store) -> None:
    write(store, outcome_of(1, spans=3), outcome_of(2))
    found = traces.stored_since(store, NOW // SECOND - 1)
    assert {trace_id: stored.generation for trace_id, stored in found.items()} == {
        f"{1:032x}": 3,
        f"{2:032x}": 2,
    }
    assert found[f"{1:032x}"].time_unix_nano == NOW
    assert traces.stored_since(store, NOW // SECOND + 100) == {}
    assert rollups.minutes_received(store, NOW // SECOND - 1) == [MINUTE]


def test_ids_that_no_sql_should_ever_see_find_nothing(store: Store) -> None:
    write(store, outcome_of(1))
    for hostile in ("' OR 1=1 --", "\\", "{x:String}", "\x00", "⟦doc:⟧", "a\nb"):
        assert records.trace(store, hostile) is None
        assert records.find(store, RecordFilter(route=hostile)) == []


def test_records_are_found_by_route_rubric_score_label_and_time(store: Store) -> None:
    write(
        store,
        outcome_of(1, value=0.9, route="/a", label=""),
        outcome_of(2, value=0.1, route="/b", label="stitched, quote_not_found"),
        outcome_of(3, value=0.4, route="/b", label="stitched"),
        outcome_of(4, value=None, route="/b", label=""),
    )

    def ids(**wanted: object) -> list[int]:
        asked = RecordFilter(**{"since": MINUTE - 60, **wanted})  # type: ignore[arg-type]
        return [int(form["trace_id"], 16) for form in records.find(store, asked)]

    assert sorted(ids()) == [1, 2, 3, 4]
    assert ids(route="/a") == [1]
    assert ids(below=0.5) == [2, 3]
    assert ids(rubric="citation_validity") == [2, 3, 1, 4]
    assert ids(label="quote_not_found") == [2]
    assert sorted(ids(label="stitched")) == [2, 3]
    assert ids(rubric="refusal", below=0.5) == []
    assert ids(since=MINUTE + 600) == []
    assert len(ids(limit=2)) == 2


def test_records_that_lack_the_same_are_counted_together(store: Store) -> None:
    write(store, outcome_of(1), outcome_of(2))
    (row,) = records.absences(store, 0)
    assert list(row["instrumentors"]) == ["openinference.instrumentation.langchain"]
    assert dict(row["lacks"]) == {"usage": "not_sent"}
    assert (list(row["truncated"]), row["records"]) == ([], 2)


def test_the_token_of_a_batch_names_its_traces_generations_and_scores() -> None:
    def token(*outcomes: Outcome) -> str:
        rows = TraceRows(FACTS)
        for outcome in outcomes:
            rows.add(outcome)
        return rows.take().token

    assert token(outcome_of(1)) == token(outcome_of(1))
    assert token(outcome_of(1)) != token(outcome_of(1, spans=3))
    assert token(outcome_of(1)) != token(outcome_of(1), outcome_of(2))
    assert token(outcome_of(1)) != token(outcome_of(1, value=0.5))


def test_a_batch_is_due_by_spans_by_bytes_and_by_age(store: Store) -> None:
    rows = TraceRows(FACTS)
    limits = store.settings.model_copy(update={"batch_rows": 4, "linger_seconds": 1.0})
    assert not rows.is_due(100.0, limits)
    rows.add(outcome_of(1), now=100.0)
    assert not rows.is_due(100.5, limits)
    assert rows.is_due(101.0, limits)
    rows.add(outcome_of(2), now=100.1)
    assert rows.is_due(100.1, limits)
    rows.take()
    rows.add(outcome_of(3, text="x" * 5000), now=100.2)
    assert rows.is_due(100.2, limits.model_copy(update={"batch_bytes": 4096}))


def test_rows_that_another_has_gathered_are_stored_like_ones_own(store: Store) -> None:
    whole, part = TraceRows(FACTS), TraceRows(FACTS)
    whole.add(outcome_of(1))
    part.add(outcome_of(2))
    whole.absorb(part.take(), now=5.0)
    batch = whole.take()
    assert {row[0] for row in batch.rows["traces"].values} == {
        outcome_of(number).trace.trace_id for number in (1, 2)
    }
    assert batch.bytes > part.take().bytes
    store.write(batch)
    assert counts(store)["scored"] == 2


def test_while_much_waits_a_batch_takes_more_and_waits_longer(store: Store) -> None:
    rows = TraceRows(FACTS)
    limits = store.settings.model_copy(update={"batch_rows": 2, "linger_seconds": 1.0})
    rows.add(outcome_of(1), now=100.0)
    assert rows.is_due(100.0, limits)
    assert not rows.is_due(101.0, limits, times=4, waits=2)
    assert rows.is_due(102.0, limits, times=4, waits=2)
    assert rows.is_due(100.0, limits.model_copy(update={"batch_rows": 200}), waits=0)
