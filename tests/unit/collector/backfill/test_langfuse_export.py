"""Langfuse's exports in their documented forms, made of what its SDK had sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.rig.captures import load
from collector.backfill.langfuse_export import pieces
from collector.record.build import records
from collector.record.feedback import feedback_of
from ragvigil.model.feedback import FeedbackEvent
from ragvigil.model.span import Closed, Span, Trace
from tests.exports import GOLDEN, records_of, said, spans_of

SENT = load(GOLDEN / "otlp" / "langfuse-langchain").traces
OBSERVED = "langfuse.observation."
COLUMNS = {
    "input": "input", "output": "output", "model.name": "provided_model_name",
    "model.parameters": "model_parameters", "usage_details": "usage_details",
    "cost_details": "cost_details", "completion_start_time": "completion_start_time",
}  # fmt: skip
CAMEL = {
    "trace_id": "traceId", "parent_observation_id": "parentObservationId",
    "start_time": "startTime", "end_time": "endTime", "provided_model_name": "model",
    "model_parameters": "modelParameters", "usage_details": "usageDetails",
    "observation_id": "observationId", "data_type": "dataType", "string_value": "stringValue",
}  # fmt: skip


def written(nanos: int) -> str:
    return datetime.fromtimestamp(nanos / 1e9, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")


def observation(span: Span) -> dict[str, Any]:
    """A row of `observations/`, as the blob storage export documents it."""
    row: dict[str, Any] = {
        "id": span.span_id,
        "trace_id": span.trace_id,
        "parent_observation_id": span.parent_span_id,
        "type": str(span.attributes.get(f"{OBSERVED}type", "span")).upper(),
        "name": span.name,
        "start_time": written(span.start_unix_nano),
        "end_time": written(span.end_unix_nano),
        "level": "DEFAULT",
        "metadata": {},
    }
    for name, column in COLUMNS.items():
        value = span.attributes.get(OBSERVED + name, "")
        is_object = name.endswith("_details") and isinstance(value, str) and value
        row[column] = json.loads(str(value)) if is_object else value
    return row


ROWS = [observation(span) for trace in SENT.values() for span in trace.spans]
EXPECTED = {key: said(record) for key, trace in SENT.items() for record in records(trace)}


def save(folder: Path, rows: object, name: str = "observations.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def camel(row: dict[str, Any]) -> dict[str, Any]:
    return {CAMEL.get(key, key): value for key, value in row.items()}


def test_the_blob_storage_export_gives_the_records_that_were_sent(tmp_path: Path) -> None:
    path = tmp_path / "observations.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in ROWS), encoding="utf-8")
    assert EXPECTED
    assert {key: said(record) for key, record in records_of(pieces(path, 0)).items()} == EXPECTED


def test_the_answer_of_the_public_api_gives_the_same(tmp_path: Path) -> None:
    path = save(tmp_path, {"data": [camel(row) for row in ROWS], "meta": {"page": 1}})
    assert {key: said(record) for key, record in records_of(pieces(path, 0)).items()} == EXPECTED


def test_traces_that_hold_their_observations_give_the_same(tmp_path: Path) -> None:
    traces = [
        {
            "id": trace,
            "timestamp": "2026-01-01T00:00:00Z",
            "name": "chat",
            "userId": "u-1",
            "observations": [camel(row) for row in ROWS if row["trace_id"] == trace],
        }
        for trace in SENT
    ]
    path = save(tmp_path, traces)
    assert {key: said(record) for key, record in records_of(pieces(path, 0)).items()} == EXPECTED
    roots = [span for span in spans_of(pieces(path, 0)) if not span.parent_span_id]
    assert {span.attributes["user.id"] for span in roots} == {"u-1"}


def test_the_download_of_a_page_gives_the_same(tmp_path: Path) -> None:
    """It holds a trace, and beside it the observations that the trace holds in short form too."""
    for trace in SENT:
        held = [camel(row) for row in ROWS if row["trace_id"] == trace]
        short = [{**row, "input": None, "output": None, "metadata": "{}"} for row in held]
        about = {"id": trace, "timestamp": "2026-01-01T00:00:00Z", "observations": short}
        path = save(tmp_path, {"trace": {**about, "scores": []}, "observations": held})
        found = records_of(pieces(path, 0))
        assert {key: said(record) for key, record in found.items()} == {trace: EXPECTED[trace]}


SCORE = {
    "id": "s-1", "timestamp": "2026-01-02 03:04:05.678", "name": "user-feedback",
    "trace_id": ROWS[0]["trace_id"], "observation_id": ROWS[0]["id"], "session_id": None,
    "source": "API", "data_type": "NUMERIC", "value": 0.25, "string_value": None, "comment": "eh",
}  # fmt: skip


def scored(folder: Path, *rows: dict[str, Any]) -> list[FeedbackEvent]:
    spans = spans_of(pieces(save(folder, list(rows)), 0))
    return [
        event
        for span in spans
        for event in feedback_of(
            Trace(trace_id=span.trace_id, spans=(span,), closed=Closed.IDLE, received_unix_nano=1)
        )
    ]


@pytest.mark.parametrize("form", [dict, camel])
def test_a_score_is_feedback_on_the_observation_that_it_names(
    tmp_path: Path, form: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    (event,) = scored(tmp_path, form(SCORE))
    assert (event.trace_id, event.span_id) == (SCORE["trace_id"], SCORE["observation_id"])
    assert (event.kind, event.value, event.source) == ("thumbs", 0.25, "langfuse")
    assert event.comment == "user-feedback: eh"
    assert event.time_unix_nano == 1767323045678000000


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"value": 1, "data_type": "BOOLEAN", "string_value": "True"}, (1.0, "user-feedback: eh")),
        ({"value": "0", "data_type": "BOOLEAN"}, (0.0, "user-feedback: eh")),
        ({"value": 0, "data_type": "CATEGORICAL", "string_value": "good"},
         (1.0, "user-feedback: good: eh")),
        ({"value": 1, "data_type": "CATEGORICAL", "string_value": "off topic"},
         (None, "user-feedback: off topic: eh")),
        ({"value": "bad", "data_type": "CATEGORICAL"}, (0.0, "user-feedback: bad: eh")),
        ({"value": None, "data_type": "NUMERIC"}, (None, "user-feedback: eh")),
    ],
)  # fmt: skip
def test_a_category_is_a_word_and_never_its_number(
    tmp_path: Path, changed: dict[str, Any], expected: tuple[float | None, str]
) -> None:
    (event,) = scored(tmp_path, SCORE | changed)
    assert (event.value, event.comment) == expected


def test_a_score_of_a_trace_or_a_session_names_that(tmp_path: Path) -> None:
    of_trace = SCORE | {"observation_id": None, "source": "EVAL"}
    of_session = SCORE | {"id": "s-2", "trace_id": None, "observation_id": None, "session_id": "c"}
    found = {event.session_id: event for event in scored(tmp_path, of_trace, of_session)}
    assert (found[""].trace_id, found[""].span_id) == (SCORE["trace_id"], "")
    assert found[""].source == "langfuse:llm"
    assert (found["c"].trace_id, found["c"].span_id) == ("", "")


def test_scores_of_one_id_are_one_and_each_id_its_own(tmp_path: Path) -> None:
    trace = {"id": SCORE["trace_id"], "timestamp": "2026-01-01", "observations": [ROWS[0]],
             "scores": [SCORE, "s-2"]}  # fmt: skip
    events = scored(tmp_path, trace, SCORE, SCORE | {"id": "s-3"})
    assert len(events) == 2
    assert len({event.feedback_id for event in events}) == 2


def test_what_langfuse_took_in_over_otlp_keeps_its_attributes_and_its_service(
    tmp_path: Path,
) -> None:
    kept = {"attributes": {"http.route": "/ask"}, "resourceAttributes": {"service.name": "shop"}}
    path = save(tmp_path, [ROWS[0] | {"metadata": json.dumps({**kept, "team": "a"})}])
    (span,) = spans_of(pieces(path, 0))
    assert span.resource.attributes["service.name"] == "shop"
    assert span.attributes["http.route"] == "/ask"
    assert span.attributes[f"{OBSERVED}metadata.team"] == "a"


def test_what_is_no_observation_is_refused_with_the_reason(tmp_path: Path) -> None:
    score = {"id": "s", "trace_id": "t", "name": "helpful", "value": 1, "data_type": "NUMERIC"}
    of_run = {**score, "trace_id": None, "timestamp": "2026-01-01", "dataset_run_id": "r"}
    lonely = {"id": "t-9", "timestamp": "2026-01-01", "name": "chat"}
    late = ROWS[0] | {"start_time": None}
    path = save(tmp_path, [score, of_run, lonely, late, 3, {"id": 3}, ROWS[0]])
    (piece,) = pieces(path, 0)
    assert piece.items == 1
    assert sorted(piece.refused) == [
        "row 1: is a score without a time or a name",
        "row 2: is a score of neither an observation nor a trace or session",
        "row 4: has no start time",
        "row 5: is neither an observation, a trace nor a score",
        "row 6: is neither an observation, a trace nor a score",
        "trace t-9: none of its observations is in the file",
    ]


def test_counts_of_an_older_export_are_read(tmp_path: Path) -> None:
    row = {"id": "a", "traceId": "b", "type": "GENERATION", "startTime": "2024-05-29T13:46:19Z",
           "usage": {"input": 7, "output": 2, "total": 9, "unit": "TOKENS"}}  # fmt: skip
    (span,) = spans_of(pieces(save(tmp_path, [row]), 0))
    assert json.loads(str(span.attributes[f"{OBSERVED}usage_details"])) == {
        "input": 7, "output": 2, "total": 9,
    }  # fmt: skip


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
KEYS = st.sampled_from(
    [*ROWS[0], *camel(ROWS[0]), *SCORE, "scores", "usage", "observations", "tags"]
)


@given(st.lists(st.dictionaries(KEYS, JSON, max_size=12), max_size=5))
def test_no_row_of_whatever_form_makes_it_crash(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    good = ROWS[0] | {"trace_id": "f" * 32, "id": "e" * 16}
    path = tmp_path_factory.mktemp("langfuse") / "rows.json"
    path.write_text(json.dumps([*rows, good]), encoding="utf-8")
    assert "e" * 16 in {span.span_id for span in spans_of(pieces(path, 0))}
