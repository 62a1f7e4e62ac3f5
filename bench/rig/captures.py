"""Captured OTLP requests as traces, with their truth rows, and what their spans carry."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from collector.decode.otlp import Encoding, decode
from collector.decode.spans import decode_logs, decode_spans
from collector.settings import LimitSettings
from ragvigil.model.span import Closed, LogRecord, Signal, Span, Trace

Truth = Mapping[str, Any]
NUMBER = re.compile(r"\.\d+(?=\.|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """One stack's traces by id, and the truth rows of each."""

    name: str
    traces: Mapping[str, Trace]
    truth: Mapping[str, tuple[Truth, ...]]


def captured_sets(folder: Path) -> list[Path]:
    """The sets in a folder of captures, by name."""
    return sorted(path.parent for path in folder.glob("*/truth.jsonl"))


def load(folder: Path) -> Capture:
    """All traces of a captured set; spans in the order in which they arrived."""
    spans: dict[str, list[Span]] = defaultdict(list)
    logs: dict[tuple[str, str], list[LogRecord]] = defaultdict(list)
    for line in (folder / "meta.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        body = (folder / "requests" / Path(entry["file"]).name).read_bytes()
        encoding = Encoding.JSON if entry["file"].endswith(".json") else Encoding.PROTOBUF
        signal = Signal.LOGS if "logs" in entry["path"].lower() else Signal.TRACES
        request = decode(body, encoding, signal, LimitSettings()).request
        for record in decode_logs(request) if signal is Signal.LOGS else ():
            logs[(record.trace_id, record.span_id)].append(record)
        for span in decode_spans(request) if signal is Signal.TRACES else ():
            spans[span.trace_id].append(span)
    truth: dict[str, list[Truth]] = defaultdict(list)
    for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        truth[row["trace_id"]].append(row)
    traces = {key: _trace(key, found, logs) for key, found in spans.items()}
    return Capture(
        name=folder.name, traces=traces, truth={key: tuple(rows) for key, rows in truth.items()}
    )


def _trace(
    trace_id: str, spans: list[Span], logs: Mapping[tuple[str, str], list[LogRecord]]
) -> Trace:
    joined = (
        replace(span, logs=tuple(logs[(trace_id, span.span_id)]))
        if (trace_id, span.span_id) in logs
        else span
        for span in spans
    )
    return Trace(trace_id=trace_id, spans=tuple(joined), closed=Closed.IDLE, received_unix_nano=0)


def carried(trace: Trace) -> str:
    """Every string in a trace's attributes, events and log bodies, strings within JSON included."""
    return "\x00".join(_strings_of(trace))


def _strings_of(trace: Trace) -> Iterator[str]:
    for span in trace.spans:
        yield from _strings(dict(span.attributes), 3)
        for event in span.events:
            yield from _strings(dict(event.attributes), 3)
        for record in span.logs:
            yield from _strings(record.body, 3)
            yield from _strings(dict(record.attributes), 3)


def _strings(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        if depth and value[:1] in '{["':
            try:
                inner = json.loads(value)
            except ValueError:
                return
            if inner != value:
                yield from _strings(inner, depth - 1)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item, depth)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item, depth)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One attribute of one span (numbered ones together): its raw strings, and all within."""

    name: str
    raw: tuple[str, ...]
    everything: str


def where(capture: Capture) -> dict[str, Counter[str]]:
    """Per field the (span, attribute) pairs that hold it, counted by truth row.

    `question=` and `answer=` are equal to the value, `question~` and `answer~` contain it,
    `texts` and `ids` contain all of a row's; numbers in names are written `N`.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for trace_id, rows in capture.truth.items():
        trace = capture.traces.get(trace_id)
        places = [place for span in trace.spans for place in _places(span)] if trace else []
        for row in rows:
            held = {(kind, place.name) for place in places for kind in _held(row, place)}
            for kind, name in held:
                counts[kind][name] += 1
    return dict(counts)


def _places(span: Span) -> Iterator[Place]:
    """The strings of a span by attribute, including strings within JSON."""
    values: dict[str, list[object]] = defaultdict(list)
    for key, value in span.attributes.items():
        values[NUMBER.sub(".N", key)].append(value)
    for event in span.events:
        for key, value in event.attributes.items():
            values[f"event {event.name}:{key}"].append(value)
    for record in span.logs:
        values[f"log {record.event_name}"].append(record.body)
    for name, found in values.items():
        yield Place(
            name=f"{span.name} · {name}",
            raw=tuple(value for value in found if isinstance(value, str)),
            everything="\x00".join(string for value in found for string in _strings(value, 3)),
        )


def _held(row: Truth, place: Place) -> Iterator[str]:
    for name in ("question", "answer"):
        if row[name] and row[name] in place.everything:
            yield f"{name}=" if row[name] in place.raw else f"{name}~"
    documents = row["retrieved"] or []
    if documents and all(document["text"] in place.everything for document in documents):
        yield "texts"
    if documents and all(str(document["id"]) in place.everything for document in documents):
        yield "ids"
