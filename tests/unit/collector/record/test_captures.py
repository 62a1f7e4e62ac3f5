"""Records of captured instrumentors say what the applications themselves returned."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from bench.conventions import FIELDS, Tally, run
from bench.rig.captures import Capture, captured_sets, load
from bench.rig.report import SAMPLES
from bench.rig.trace_changes import UNNOTICED, newest_dropped
from collector.claims.registry import registered
from collector.record.build import records
from ragvigil.model.record import Absent
from ragvigil.model.span import Trace

SETS = {path.name: path for path in captured_sets(SAMPLES / "otlp")}


@pytest.fixture(scope="module", params=sorted(SETS))
def capture(request: pytest.FixtureRequest) -> Capture:
    return load(SETS[request.param])


def assert_true(tally: Tally) -> None:
    assert tally.records == tally.rows > 0, tally.misses
    assert {name: tally.right[name] for name in FIELDS} == {
        name: tally.carried[name] for name in FIELDS
    }, tally.misses
    assert not sum(tally.invented.values()), tally.misses


def test_records_equal_what_the_application_returned(capture: Capture) -> None:
    assert_true(run(capture))


@pytest.mark.parametrize("change", sorted(UNNOTICED))
def test_records_stay_the_same_under_what_does_not_matter(capture: Capture, change: str) -> None:
    assert_true(run(capture, UNNOTICED[change]))


def test_a_convention_less_states_nothing_wrong(capture: Capture) -> None:
    for left_out in registered():
        rest = [convention for convention in registered() if convention is not left_out]
        tally = run(capture, conventions=rest)
        assert not sum((tally.wrong + tally.invented).values()), (left_out.name, tally.misses)


def test_hidden_content_is_absent_and_said_to_be_hidden() -> None:
    capture = load(SETS["oi-langchain-hidden"])
    for trace in capture.traces.values():
        (record,) = records(trace)
        assert (record.query, record.answer, record.retrieved) == (None, None, ())
        fields = ("query", "answer", "retrieved", "document_texts", "document_ids", "context")
        assert {record.absent[name] for name in fields} == {Absent.HIDDEN}


def _without_models(trace: Trace) -> Trace:
    """The trace without the names of models, which tell what a span was that lost its kind."""
    spans = [
        replace(
            span,
            attributes={
                name: value for name, value in span.attributes.items() if name != "llm.model_name"
            },
        )
        for span in trace.spans
    ]
    return replace(trace, spans=tuple(spans))


def test_an_answer_whose_span_lost_its_role_is_told_to_be_cut() -> None:
    told = []
    for trace in load(SETS["oi-openai-agents"]).traces.values():
        left = newest_dropped(32)(trace, random.Random(7))
        assert all(record.answer is not None for record in records(left))
        unknown = records(_without_models(left))
        told += [record.absent["answer"] for record in unknown if record.answer is None]
    assert Absent.TRUNCATED in told
    assert Absent.NOT_SENT not in told
