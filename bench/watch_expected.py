"""What each fault of the example service really does: every question asked once, every record
scored by code and by the stand-in judge, beside the healthy service.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from judge_court import asker_of, judged_families
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from report import progress

from alerts.signals import RATES
from alerts.watch_settings import BrokenSettings
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
    """What a fault does: `change` of each judged rubric's mean, `rates` of the broken signals."""

    fault: str
    change: Means
    rates: Means

    @property
    def drops(self) -> Means:
        """The judged rubrics that fall by at least ten points."""
        return {name: one for name, one in self.change.items() if one <= -LEAST_DROP}

    @property
    def broken(self) -> Means:
        """The rates that are over their ceilings."""
        ceilings = BrokenSettings()
        over = {one.signal: getattr(ceilings, one.setting) for one in RATES}
        return {name: rate for name, rate in self.rates.items() if rate > over[name]}

    @property
    def must_page(self) -> bool:
        """Whether somebody is to be woken."""
        return bool(self.drops or self.broken)

    @property
    def because(self) -> str:
        """Why, in figures."""
        said = [f"{name} {rate:.0%}" for name, rate in self.broken.items()]
        return ", ".join([*said, *(f"{name} {drop:+.2f}" for name, drop in self.drops.items())])


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
        healthy = await _judged(client, records_of([], asked))
        found = {}
        for fault in faults:
            made = records_of([fault.value], asked)
            means = await _judged(client, made)
            change = {name: means[name] - healthy[name] for name in means if name in healthy}
            truth = Truth(fault=fault.value, change=change, rates=_rates(made))
            progress(f"{fault.value}: {truth.because or 'no page'}")
            found[fault.value] = truth
        await client.close()
    return found


def _rates(found: Sequence[RagRecord]) -> Means:
    """The share of records of each broken signal that code tells."""
    runner = Runner(load_scorers())
    counted: Counter[str] = Counter()
    for record in found:
        for score in runner.score_all(record):
            said = {one.strip() for one in score.label.split(",")} - {""}
            said |= {"failed"} if score.fails(runner.fails_below.get(score.rubric)) else set()
            counted.update(f"{score.rubric}:{one}" for one in said)
    return {one.signal: counted[one.signal] / len(found) for one in RATES if ":" in one.signal}


async def _judged(client: Client, found: Sequence[RagRecord]) -> Means:
    """The mean of every judged rubric, and of those derived from their grades."""
    values: dict[str, list[float]] = defaultdict(list)
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
    return {name: fmean(each) for name, each in values.items()}
