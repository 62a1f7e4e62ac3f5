"""What each fault of the example service really does: every question asked once, every record
scored by code and by the stand-in judge, beside the healthy service.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from judge_court import asker_of, judged_families
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from report import progress

from collector.records import records
from collector.spans import decode_spans
from examples.helpdesk.corpus import Question, load_questions
from examples.helpdesk.faults import Fault
from examples.helpdesk.service import create_app, make_desk
from ragvigil.llm.client import Client, open_client
from ragvigil.llm.outcome import Purpose
from ragvigil.llm.settings import LlmSettings
from ragvigil.model.record import RagRecord
from ragvigil.model.span import Closed, Span, Trace
from scorers.runner import Runner, load_scorers
from tests.content_judge import ContentJudge
from tests.llm_server import LlmServer

MODEL = "openai:stand-in"
LEAST_DROP = 0.10
AT_ONCE = 8
Means = dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """A fault's mean of each rubric less that of the healthy service; `failing` by code, shares."""

    fault: str
    change: Means
    failing: Means

    @property
    def drops(self) -> Means:
        """The judged rubrics that fall by at least ten points."""
        judged = {family.asked.name for family in judged_families()}
        return {
            name: round(change, 3)
            for name, change in self.change.items()
            if name in judged and change <= -LEAST_DROP
        }


def records_of(switches: Sequence[str], questions: Iterable[Question]) -> list[RagRecord]:
    """What the daemon would make of these questions to the service with these faults."""
    from fastapi.testclient import TestClient

    exporter = InMemorySpanExporter()
    with TestClient(create_app(make_desk(list(switches), exporter=exporter))) as client:
        for one in questions:
            body = {"question": one.text, "language": one.language}
            client.post(one.route, json=body).raise_for_status()
    by_trace: dict[str, list[Span]] = defaultdict(list)
    for span in decode_spans(encode_spans(exporter.get_finished_spans())):
        by_trace[span.trace_id].append(span)
    return [
        record
        for trace_id, spans in by_trace.items()
        for record in records(
            Trace(
                trace_id=trace_id,
                spans=tuple(spans),
                closed=Closed.ROOT_ENDED,
                received_unix_nano=max(span.end_unix_nano for span in spans),
            )
        )
    ]


async def truths(faults: Sequence[Fault], *, questions: int | None = None) -> dict[str, Truth]:
    """The truth of each fault, switched on everywhere."""
    asked = load_questions()[:questions]
    async with LlmServer(ContentJudge().answer) as server:
        client = open_client(
            LlmSettings.model_validate(
                {"model": MODEL, "base_url": server.openai, "key": "none", "cache_entries": 0}
            )
        )
        healthy, failing = await _means(client, records_of([], asked))
        found = {}
        for fault in faults:
            means, failed = await _means(client, records_of([fault.value], asked))
            change = {name: means[name] - healthy[name] for name in means if name in healthy}
            more = {name: failed[name] - failing.get(name, 0.0) for name in failed}
            found[fault.value] = Truth(fault=fault.value, change=change, failing=more)
            progress(f"{fault.value}: {found[fault.value].drops}")
        await client.close()
    return found


async def _means(client: Client, found: Sequence[RagRecord]) -> tuple[Means, Means]:
    """Mean of every rubric, and the share of records that fail each that code scores."""
    runner = Runner(load_scorers())
    values: dict[str, list[float]] = defaultdict(list)
    fails: dict[str, list[float]] = defaultdict(list)
    for record in found:
        for score in runner.score_all(record):
            if score.value is not None:
                values[score.rubric].append(score.value)
                fails[score.rubric].append(score.fails(runner.fails_below.get(score.rubric)))
    asker = asker_of(client, MODEL, seed=0)
    for start in range(0, len(found), AT_ONCE):
        asking = [
            asker.ask(record, family, Purpose.SAMPLE)
            for record in found[start : start + AT_ONCE]
            for family in judged_families()
        ]
        for answered in await asyncio.gather(*asking):
            for score in answered.scores:
                if score.value is not None:
                    values[score.rubric].append(score.value)
    return _each_mean(values), _each_mean(fails)


def _each_mean(values: dict[str, list[float]]) -> Means:
    return {name: fmean(each) for name, each in values.items()}
