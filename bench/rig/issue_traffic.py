"""Traffic of the example service in which several faults come side by side, each answer's known."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from fastapi.testclient import TestClient
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from examples.helpdesk.corpus import Question, load_questions
from examples.helpdesk.faults import Fault
from examples.helpdesk.service import create_app, make_desk
from ragvigil.app.demo.schedule import Template

HEALTHY = "healthy"
SIDE_BY_SIDE = 3
HEALTHY_SHARE, BACKGROUND_SHARE = 0.5, 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """The question and the answer's fault, if any: one of the hour's three or background."""

    question: int
    fault: str = HEALTHY
    is_background: bool = False

    @property
    def cause(self) -> str:
        """The fault where it is one of the three, else empty."""
        return "" if self.is_background or self.fault == HEALTHY else self.fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer to send: the start of its trace, its template and its truth."""

    start_unix_nano: int
    template: Template
    truth: Truth


def templates(most: int) -> dict[str, list[Template]]:
    """A trace of up to `most` questions, the same ones healthy and with each fault."""
    asked = load_questions()
    asked = asked[:: 1 + (len(asked) - 1) // most]
    exporter = InMemorySpanExporter()
    desk = make_desk([], exporter=exporter)
    found: dict[str, list[Template]] = {}
    with TestClient(create_app(desk), base_url="http://helpdesk:8099") as client:
        found[HEALTHY] = _answers(client, exporter, asked)
        for fault in Fault:
            desk.board.turn_on(fault)
            found[fault.value] = _answers(client, exporter, asked)
            desk.board.turn_off(fault)
    return found


def _answers(
    client: TestClient, exporter: InMemorySpanExporter, asked: Sequence[Question]
) -> list[Template]:
    made = []
    for question in asked:
        exporter.clear()
        body = {"question": question.text, "language": question.language}
        client.post(question.route, json=body).raise_for_status()
        sent = encode_spans(exporter.get_finished_spans()).SerializeToString()
        made.append(Template(ExportTraceServiceRequest.FromString(sent)))
    return made


def threes(seed: int, count: int) -> list[tuple[str, ...]]:
    """Groups of three faults: the least used first, in pairs that have not met.

    >>> len({fault for three in threes(1, 4) for fault in three})
    10
    """
    dice = random.Random(seed)
    faults = dice.sample([fault.value for fault in Fault], len(Fault))
    every = [tuple(three) for three in combinations(faults, SIDE_BY_SIDE)]
    chosen: list[tuple[str, ...]] = []
    for _ in range(count):
        chosen.append(min(every, key=lambda three: _seen(three, chosen)))
    return chosen


def _seen(three: Sequence[str], chosen: Sequence[Sequence[str]]) -> tuple[int, int]:
    """How often its faults came, and how often two of them together."""
    shared = [len(set(three) & set(other)) for other in chosen]
    return sum(shared), sum(count > 1 for count in shared)


def healthy_hours(
    known: Mapping[str, Sequence[Template]], *, ends: int, hours: float, per_hour: float, seed: int
) -> Iterator[Answer]:
    """Healthy answers until `ends` (nanoseconds), each question once before any comes again."""
    dice = random.Random(f"{seed} healthy")
    at = ends - int(hours * 3600e9)
    left: list[int] = []
    while (at := at + int(dice.expovariate(per_hour) * 3600e9)) < ends:
        left = left or dice.sample(range(len(known[HEALTHY])), len(known[HEALTHY]))
        yield _answer(known, at, Truth(question=left.pop()))


def faulty_hour(
    known: Mapping[str, Sequence[Template]],
    three: Sequence[str],
    *,
    starts: int,
    requests: int,
    seed: int,
) -> list[Answer]:
    """An hour from `starts` (nanoseconds) on: half healthy, a tenth background, else the three."""
    dice = random.Random(f"{seed} {' '.join(three)}")
    others = [fault.value for fault in Fault if fault not in three]
    times = sorted(starts + int(dice.random() * 3600e9) for _ in range(requests))
    asked = range(len(known[HEALTHY]))
    return [_answer(known, at, _drawn(dice.choice(asked), three, others, dice)) for at in times]


def _drawn(
    question: int, three: Sequence[str], others: Sequence[str], dice: random.Random
) -> Truth:
    chance = dice.random()
    if chance < HEALTHY_SHARE:
        return Truth(question=question)
    if chance < HEALTHY_SHARE + BACKGROUND_SHARE:
        return Truth(question=question, fault=dice.choice(others), is_background=True)
    return Truth(question=question, fault=dice.choice(three))


def _answer(known: Mapping[str, Sequence[Template]], at: int, truth: Truth) -> Answer:
    template = known[truth.fault][truth.question]
    return Answer(start_unix_nano=at, template=template, truth=truth)


def trace_id_of(body: bytes) -> str:
    """The id of the only trace of a request."""
    request = ExportTraceServiceRequest.FromString(body)
    trace_id: bytes = request.resource_spans[0].scope_spans[0].spans[0].trace_id
    return trace_id.hex()
