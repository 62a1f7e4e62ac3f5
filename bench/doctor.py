"""`ragvigil doctor` on captured instrumentors: every absent field with the line that fixes it.

The captured sets as they are, and the sets whose content can be switched off once more without
it. Run: `.venv/bin/python bench/doctor.py [--small]`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.rig.captures import captured_sets, load
from bench.rig.options import parse_small
from bench.rig.report import SAMPLES, bench_data, finish, progress
from collector.doctor.diagnose import Diagnosis, Gap, RecordGroup, diagnose
from collector.record.build import records
from ragvigil.model.record import Absent, RagRecord
from ragvigil.model.span import Span
from scorers.rubric import load_rubrics

BARRED = ("oi-", "otel-", "ollm-", "hard-")
HIDE = re.compile(r"OPENINFERENCE_HIDE_INPUTS=false OPENINFERENCE_HIDE_OUTPUTS=false")
CAPTURE = re.compile(r"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY")
TRACELOOP = re.compile(r"TRACELOOP_TRACE_CONTENT=true")
CONTENT = re.compile(r'"content" to each entry of gen_ai\.retrieval\.documents')
EVENT_LIMIT = re.compile(r"OTEL_SPAN_EVENT_COUNT_LIMIT=\d{3,}")
LENGTH_LIMIT = re.compile(r"unset OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT")
VALUE_LENGTH = 300
COUNT_LIMIT = re.compile(r"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=\d{3,}")
GENAI_CONTENT = re.compile(
    r"gen_ai\.(input\.messages|output\.messages|system_instructions|prompt\.variable\..*"
    r"|retrieval\.query\.text|tool\.call\..*)$"
)
GENAI_DOCUMENTS = re.compile(GENAI_CONTENT.pattern[:-1] + r"|gen_ai\.retrieval\.documents$")
OLLM_CONTENT = re.compile(
    r"traceloop\.entity\.(input|output)$|gen_ai\.task\.(input|output)$"
    r"|gen_ai\.(input\.messages|output\.messages|system_instructions|prompt\.\d.*|completion\.\d.*)$"
    r"|traceloop\.prompt\..*|db\.query\.result\..*"
)

Line = re.Pattern[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A captured set, what is done to its spans, and the line that must mend each field."""

    name: str
    source: str
    change: Callable[[Span], Span] = lambda span: span
    lines: Mapping[str, Line]


def without(content: Line) -> Callable[[Span], Span]:
    """Takes away the attributes that hold content, as a switched-off instrumentor does."""

    def kept(attributes: Mapping[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in attributes.items() if not content.match(key)}

    def changed(span: Span) -> Span:
        events = (replace(event, attributes=kept(event.attributes)) for event in span.events)
        filled = tuple(event for event in events if event.attributes)
        return replace(span, attributes=kept(span.attributes), events=filled, logs=())

    return changed


def shortened(span: Span) -> Span:
    """A span of an SDK with a limit on the length of values."""
    cut = {
        key: value[:VALUE_LENGTH] if isinstance(value, str) else value
        for key, value in span.attributes.items()
    }
    return replace(span, attributes=cut)


def eventless(span: Span) -> Span:
    """A span of an SDK that keeps no more than one event."""
    kept = span.events[-1:]
    return replace(span, events=kept, dropped_events_count=len(span.events) - len(kept))


MESSAGES = ("answer", "citations")
ALL = ("query", "retrieved", "document_texts", "context", *MESSAGES)
CASES = (
    Case(name="hidden", source="oi-langchain-hidden", lines=dict.fromkeys(ALL, HIDE)),
    Case(
        name="limit",
        source="hard-long-many",
        lines={"attributes": COUNT_LIMIT, "retrieved": COUNT_LIMIT},
    ),
    Case(
        name="events limit",
        source="ollm-openai-chroma",
        change=eventless,
        lines={"events": EVENT_LIMIT},
    ),
    Case(
        name="length limit",
        source="ollm-langchain",
        change=shortened,
        lines=dict.fromkeys(("retrieved", "document_texts", "context"), LENGTH_LIMIT),
    ),
    Case(
        name="genai off",
        source="otel-genai-langchain",
        change=without(GENAI_DOCUMENTS),
        lines=dict.fromkeys(ALL, CAPTURE),
    ),
    Case(
        name="genai off, ids kept",
        source="otel-genai-langchain",
        change=without(GENAI_CONTENT),
        lines=dict.fromkeys(MESSAGES, CAPTURE) | {"document_texts": CONTENT},
    ),
    Case(
        name="genai two services off",
        source="otel-openai-v2-fastapi-2svc",
        change=without(GENAI_CONTENT),
        lines=dict.fromkeys(("query", *MESSAGES), CAPTURE),
    ),
    *(
        Case(
            name=f"{source} off",
            source=source,
            change=without(OLLM_CONTENT),
            lines=dict.fromkeys(fields, TRACELOOP),
        )
        for source, fields in (("ollm-langchain", ALL), ("ollm-openai-chroma", ALL[1:]))
    ),
)
"""Not ollm-llamaindex: without content its spans tell of no retrieval, so there is no record."""
FOREIGN = re.compile(r"fastapi|httpx|asgi|requests|urllib3")


def alike(found: Iterable[RagRecord]) -> list[RecordGroup]:
    """Records as the store counts them."""
    return [
        RecordGroup(
            service=record.service,
            instrumentors=record.instrumentors,
            has_llm_span=record.latencies.generation is not None,
            absent=dict(record.absent),
            truncated=record.truncated,
        )
        for record in found
    ]


def unnamed(found: list[RagRecord], entries: list[Diagnosis]) -> tuple[list[str], int]:
    """Where findings fall short of the records, and how many absent fields they must name."""
    expected: Counter[tuple[str, str, str, str]] = Counter()
    for record in found:
        scope = record.instrumentors[0] if record.instrumentors else ""
        for field, why in record.absent.items():
            if why is not Absent.NOT_RUN:
                expected[record.service, scope, field, why.value] += 1
    wrong = []
    for (service, scope, field, reason), count in expected.items():
        (entry,) = (entry for entry in entries if (entry.service, entry.scope) == (service, scope))
        said = [
            finding
            for finding in entry.findings
            if (finding.field, finding.reason) == (field, reason)
        ]
        wrong += [f"{field} {reason}: {fault}" for fault in _faults(field, count, entry, said)]
    findings = [finding for entry in entries for finding in entry.findings]
    wrong += [
        f"needless: {finding.field}" for finding in findings if finding.reason == Absent.NOT_RUN
    ]
    wrong += [f"blamed: {finding.scope}" for finding in findings if FOREIGN.search(finding.scope)]
    return wrong, len(expected)


def _faults(field: str, count: int, entry: Diagnosis, said: list[Gap]) -> Iterator[str]:
    off = sorted(name for name, rubric in load_rubrics().items() if field in rubric.needs)
    if sum(finding.records for finding in said) != count:
        yield "not named"
    if abs(sum(finding.share for finding in said) - count / entry.records) > 1e-3:
        yield "share"
    if any(list(finding.rubrics_off) != off for finding in said):
        yield "rubrics"
    if not all(finding.fix for finding in said):
        yield "line"


def misfixed(case: Case, entries: list[Diagnosis]) -> list[str]:
    """Fields of a case without a finding, or with another line than the right one."""
    findings = [
        finding
        for entry in entries
        for finding in entry.findings
        if finding.reason != Absent.ERRORED
    ]
    return [
        f"{case.name}: {field}: {[f.fix for f in findings if f.field == field]}"
        for field, line in case.lines.items()
        if not any(f.field == field for f in findings)
        or not all(line.search(f.fix) for f in findings if f.field == field)
    ]


def run(folder: Path, change: Callable[[Span], Span]) -> list[RagRecord]:
    """All records of a captured set with its spans changed."""
    traces = load(folder).traces.values()
    changed = (
        replace(trace, spans=tuple(change(span) for span in trace.spans)) for trace in traces
    )
    return [record for trace in changed for record in records(trace)]


def main() -> None:
    data = None if parse_small(__doc__) else bench_data()
    folder = data / "captures" if data else SAMPLES / "otlp"
    sets = {path.name: path for path in captured_sets(folder) if path.name.startswith(BARRED)}
    needs = {name: rubric.needs for name, rubric in load_rubrics().items()}
    counted: Counter[str] = Counter()
    unsaid: list[str] = []
    wrong_lines: list[str] = []
    for case in (*(Case(name=name, source=name, lines={}) for name in sets), *CASES):
        found = run(sets[case.source], case.change)
        entries = diagnose(alike(found), needs)
        wrong, fields = unnamed(found, entries)
        unsaid += [f"{case.name}: {fault}" for fault in wrong]
        wrong_lines += misfixed(case, entries)
        counted.update(records=len(found), absent_fields=fields, lines=len(case.lines))
        said = sorted({f"{f.field} {f.reason}" for e in entries for f in e.findings})
        progress(f"{case.name}: {len(found)} records; {', '.join(said) or 'nothing to fix'}")
    for fault in (*unsaid, *wrong_lines):
        progress(f"FAULT {fault}")
    figures = {"unsaid": len(unsaid), "wrong_lines": len(wrong_lines)}
    finish(
        "doctor",
        {"sets": len(sets), "cases": len(CASES), **counted, **figures},
        {
            "every absent field named with its share, rubrics and a line": not unsaid,
            "the right line in every case": not wrong_lines and counted["lines"] > 0,
        },
        seed=0,
    )


if __name__ == "__main__":
    main()
