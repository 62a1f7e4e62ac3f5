"""Records against truth: question, texts, ids, answer and cited ids of captured instrumentors.

For every truth row whose spans carry a field (its string occurs in some attribute, event or log
body of the trace), the record must say the same. Run: `.venv/bin/python bench/conventions.py`.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.captures import Capture, Truth, captured_sets, carried, load
from bench.report import SAMPLES, bench_data, finish, progress
from collector.claims.registry import registered
from collector.records import records
from ragvigil.model.record import RagRecord
from ragvigil.model.span import Span, Trace

SEED = 7
FIELDS = ("question", "texts", "ids", "answer", "cited")
BARRED = ("oi-", "otel-", "ollm-", "hard-")
OVERALL, EACH, MUTATED = 0.98, 0.95, 0.01


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts of one set: per field how often spans carry it and how often the record is right."""

    carried: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    invented: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    records: int = 0
    misses: list[str] = field(default_factory=list)

    def share(self, name: str) -> float:
        """The share of carried fields that the record has right; 1 where none is carried."""
        return self.right[name] / self.carried[name] if self.carried[name] else 1.0


def said(record: RagRecord) -> dict[str, object]:
    """A record's five fields in the truth rows' terms; None where absent."""
    known = "retrieved" not in record.absent
    texts = [document.content for document in record.retrieved]
    ids = [document.chunk_id for document in record.retrieved]
    hidden_ids = "document_ids" in record.absent or not known
    return {
        "question": record.query,
        "texts": texts if known and None not in texts else None,
        "ids": ids if not hidden_ids else None,
        "answer": record.answer,
        "cited": [one.chunk_id or one.target for one in record.citations],
    }


def expected(row: Truth) -> dict[str, object]:
    """A truth row's five fields."""
    documents = row["retrieved"] or []
    return {
        "question": row["question"],
        "texts": [one["text"] for one in documents],
        "ids": [str(one["id"]) for one in documents],
        "answer": row["answer"],
        "cited": list(row["citations"] or []),
    }


def is_carried(name: str, wanted: dict[str, object], everything: str) -> bool:
    """Whether the trace's strings hold this field of the truth."""
    value = wanted[name]
    if name == "cited":
        return is_carried("answer", wanted, everything) and is_carried("ids", wanted, everything)
    if isinstance(value, list):
        return bool(value) and all(one in everything for one in value)
    return bool(value) and str(value) in everything


def judge(tally: Tally, rows: Sequence[Truth], found: Sequence[RagRecord], trace: Trace) -> None:
    """Compares the records of one trace with its truth rows, in order of time."""
    everything = carried(trace)
    tally.rows += len(rows)
    tally.records += len(found)
    if len(found) != len(rows):
        tally.misses.append(f"{trace.trace_id}: {len(found)} records for {len(rows)} rows")
    for row, record in _pairs(rows, found):
        wanted = expected(row)
        got = said(record) if record is not None else dict.fromkeys(FIELDS)
        for name in FIELDS:
            if is_carried(name, wanted, everything):
                tally.carried[name] += 1
                tally.right[name] += got[name] == wanted[name]
                if got[name] != wanted[name]:
                    tally.misses.append(
                        f"{trace.trace_id} {name}: {_diff(got[name], wanted[name])}"
                    )
            elif _is_invented(name, got, wanted):
                tally.invented[name] += 1
                tally.misses.append(f"{trace.trace_id} invented {name}: {got[name]!r:.200}")


def _pairs(
    rows: Sequence[Truth], found: Sequence[RagRecord]
) -> Iterable[tuple[Truth, RagRecord | None]]:
    """Rows with their records: by question where several are in a trace, else in order."""
    left = list(found)
    for row in rows:
        best = next((one for one in left if one.query == row["question"]), None)
        best = best or (left[0] if left else None)
        if best is not None:
            left.remove(best)
        yield row, best


def _is_invented(name: str, got: dict[str, object], wanted: dict[str, object]) -> bool:
    """A value for something that the spans do not carry. An app that returned nothing at all,
    because its model failed, says nothing about what was retrieved before."""
    if name == "cited":
        return bool(got["cited"]) and got["answer"] != wanted["answer"]
    if name in ("texts", "ids") and not wanted[name]:
        return False
    return bool(got[name]) and got[name] != wanted[name]


def _diff(got: object, wanted: object) -> str:
    return f"got {got!r:.300}\n      want {wanted!r:.300}"


def run(capture: Capture, change: Callable[[Trace, random.Random], Trace] | None = None) -> Tally:
    """All traces of a capture with truth rows, optionally changed."""
    tally = Tally()
    for trace_id, rows in capture.truth.items():
        trace = capture.traces.get(trace_id)
        if trace is None:
            continue
        changed = change(trace, random.Random(f"{SEED}{trace_id}")) if change else trace
        judge(tally, rows, records(changed), changed)
    stray = sum(
        len(records(trace)) for key, trace in capture.traces.items() if key not in capture.truth
    )
    if stray:
        tally.misses.append(f"{stray} records in traces without a truth row")
    return tally
