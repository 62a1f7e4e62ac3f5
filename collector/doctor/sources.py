"""Lists every service that sent spans, and says what those lack that made no record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from collector.claims.claim import Field, SpanRole
from collector.claims.payload import answer_of
from collector.claims.registry import registered
from collector.doctor.fixes import fix
from collector.record.boundaries import extents
from collector.record.build import records
from collector.record.calls import prompt_texts
from collector.record.dimensions import service_of
from collector.record.query_answer import why_unseen
from collector.record.tree import Node, grow, take_apart
from ragvigil.model.record import Absent
from ragvigil.model.span import Trace


class Missing(IntEnum):
    """What spans lack for a record; the higher, the less is missing."""

    SPANS = 0
    STEPS = 1
    CHUNKS = 2
    PROMPT = 3
    ANSWER = 4
    ONE_SPAN = 5


SENTENCES = {
    Missing.SPANS: "no span of a retriever or of a model",
    Missing.STEPS: "an agent's answer, but no span of its search or of its model",
    Missing.CHUNKS: "no span of a retriever, and no chunks in the prompts of the model",
    Missing.PROMPT: "no span of a retriever, and the prompts of the model are not captured",
    Missing.ANSWER: "no answer: a retriever, but neither a span of a model nor a text around it",
    Missing.ONE_SPAN: "retriever and model are not under one span, so nothing joins them",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanGroup:
    """How many spans of a service came from a scope."""

    service: str
    scope: str
    spans: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanSource:
    """A service that sent spans.

    `scopes` counts its spans by instrumentation scope. `kinds` are the kinds of the spans in sample
    traces, the commonest first: what a convention takes them for, else OTLP's kind. `answers` are
    its records. A service without any may be `part_of` the answers of others; else `missing` says
    what its spans lack for a record, and `fix` is the line that adds it.
    """

    service: str
    spans: int
    scopes: Mapping[str, int]
    kinds: tuple[str, ...]
    answers: int = 0
    part_of: tuple[str, ...] = ()
    missing: str = ""
    fix: str = ""


class _Sample(NamedTuple):
    """What a trace shows of each of its services.

    `answered` are the services of its records; without any, `lack` is what the trace lacks.
    """

    kinds: Mapping[str, Counter[str]]
    answered: frozenset[str]
    lack: tuple[Missing, str]
    has_retriever: bool
    has_model: bool


def list_sources(
    groups: Iterable[SpanGroup], answers: Mapping[str, int], traces: Iterable[Trace]
) -> list[SpanSource]:
    """An entry per service by name; `answers` counts records, `traces` are samples of any."""
    scopes: dict[str, dict[str, int]] = {}
    for group in groups:
        of_service = scopes.setdefault(group.service, {})
        of_service[group.scope] = of_service.get(group.scope, 0) + group.spans
    samples = [_sample(trace) for trace in traces]
    return [
        _source(
            service,
            scopes[service],
            answers.get(service, 0),
            [sample for sample in samples if service in sample.kinds],
        )
        for service in sorted(scopes)
    ]


def _source(
    service: str, scopes: Mapping[str, int], answers: int, samples: Sequence[_Sample]
) -> SpanSource:
    kinds = sum((sample.kinds[service] for sample in samples), Counter())
    answered = frozenset[str]().union(*(sample.answered for sample in samples))
    is_silent = not (answers or answered)
    missing, line = _lack(samples) if samples and is_silent else ("", "")
    return SpanSource(
        service=service,
        spans=sum(scopes.values()),
        scopes=scopes,
        kinds=tuple(kind for kind, _ in kinds.most_common()),
        answers=answers,
        part_of=() if answers else tuple(sorted(answered)),
        missing=missing,
        fix=line,
    )


def _lack(samples: Sequence[_Sample]) -> tuple[str, str]:
    """What the most complete trace lacks, and the line that adds it."""
    lack, line = max(sample.lack for sample in samples)
    is_apart = any(sample.has_retriever for sample in samples) and any(
        sample.has_model for sample in samples
    )
    if is_apart and lack is not Missing.ONE_SPAN:  # a trace each
        lack, line = Missing.ONE_SPAN, fix("", "one_span", Absent.NOT_SENT)
    return SENTENCES[lack], line


def _sample(trace: Trace) -> _Sample:
    kinds: dict[str, Counter[str]] = {}
    nodes = grow(trace.spans, registered())
    for node in nodes:
        if node.reading is not None:
            span = node.reading.span
            kind = node.role or span.kind.name.lower()
            kinds.setdefault(service_of(span), Counter())[str(kind)] += 1
    models = [model for extent in extents(nodes) for model in extent.models]
    retrievers = [node for node in nodes if node.retrieves]
    sample = _Sample(
        kinds=kinds,
        answered=frozenset(record.service for record in records(trace)),
        lack=_lack_of(nodes, retrievers, models),
        has_retriever=bool(retrievers),
        has_model=bool(models),
    )
    take_apart(nodes)
    return sample


def _lack_of(
    nodes: Sequence[Node], retrievers: Sequence[Node], models: Sequence[Node]
) -> tuple[Missing, str]:
    """What the spans of a trace without a record lack, and the line that adds it."""
    if retrievers and models:
        return Missing.ONE_SPAN, fix("", "one_span", Absent.NOT_SENT)
    if retrievers:
        why = why_unseen(nodes, (Field.REPLY, Field.OUTPUT), None)
        cause = "llm_span" if why is Absent.NOT_SENT else "answer"
        return Missing.ANSWER, fix(_scope(retrievers[-1]), cause, why)
    agents = [node for node in nodes if node.role is SpanRole.AGENT and _answers(node)]
    if agents and not models:
        return Missing.STEPS, fix(_scope(agents[-1]), "llm_span", Absent.NOT_SENT)
    if not models:
        return Missing.SPANS, fix("", "spans", Absent.NOT_SENT)
    if any(prompt_texts(model) for model in models):
        return Missing.CHUNKS, fix(_scope(models[-1]), "retrieved", Absent.NOT_SENT)
    why = why_unseen(models, (Field.PROMPT,), models[-1])
    # An instrumentor that sends no prompt has its capture of content switched off.
    reason = Absent.HIDDEN if why is Absent.NOT_SENT else why
    return Missing.PROMPT, fix(_scope(models[-1]), "context", reason)


def _answers(node: Node) -> bool:
    return node.reading is not None and bool(answer_of(node.reading.get(Field.OUTPUT)))


def _scope(node: Node) -> str:
    return node.reading.span.scope.name if node.reading is not None else ""
