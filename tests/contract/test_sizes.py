"""What is stored of a trace is bounded: no long text is repeated each time it is cited."""

from __future__ import annotations

import dataclasses

import orjson
import pytest

from collector.record.build import records
from ragvigil.model.span import Trace
from ragvigil.store.records.record_rows import as_json
from scorers.runner import Runner, load_scorers
from tests.hostile_texts import SHAPES, in_bytes
from tests.traces import llm, retriever, span, trace

BYTES = 20_000
MOST = 10_000_000
"""Bytes of the largest: 5,000 citations with the longest id twice, and their evidence."""
RUNNER = Runner(load_scorers())


def hostile(text: str) -> Trace:
    answer = f"{text} [{text}]"
    found = retriever(documents=((text, text), ("b", "other")))
    return trace(span("root"), found, llm(answer=answer, prompt=f"{text}\n\nother"))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_record_and_its_scores_stay_small(shape: str) -> None:
    sent = hostile(in_bytes(shape, BYTES))
    for record in records(sent):
        scores = sum(len(as_json(score.details)) for score in RUNNER.score_all(record))
        assert scores < MOST
        assert len(orjson.dumps(dataclasses.asdict(record), default=str)) < MOST
