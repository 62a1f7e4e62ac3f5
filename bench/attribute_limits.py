"""Spans that an SDK cut at its attribute limit: what is lost is told, and nothing is made up.

Every captured trace is cut at 128 attributes a span (the default of the SDKs) and, as few of them
are that long, at 32 and 16 too; from either end. A field that the record had right before and has
no more must be absent as `truncated`. Run: `.venv/bin/python bench/attribute_limits.py`.
"""

from __future__ import annotations

import random
from collections import Counter

from bench.conventions import FIELDS, expected, pairs, said
from bench.rig.captures import Capture, Truth, captured_sets, load
from bench.rig.options import parse_small
from bench.rig.report import SAMPLES, bench_data, finish, progress
from bench.rig.trace_changes import Change, newest_dropped, oldest_dropped
from collector.record.build import records
from ragvigil.model.record import Absent, RagRecord

SEED = 7
LIMITS = (128, 32, 16)
ENDS = {"newest": newest_dropped, "oldest": oldest_dropped}
TOLD_BY = {
    "question": ("query",),
    "texts": ("retrieved", "document_texts"),
    "ids": ("retrieved", "document_ids"),
    "answer": ("answer",),
    "cited": ("citations", "retrieved", "context", "document_ids"),
}
"""Which entries of a record's `absent` own up to the loss of a field."""


def losses(capture: Capture, change: Change, misses: list[str]) -> Counter[str]:
    """Spans cut, fields lost, lost without saying so, and stated wrongly."""
    counts: Counter[str] = Counter()
    for trace_id, rows in capture.truth.items():
        whole = capture.traces.get(trace_id)
        if whole is None:
            continue
        trace = change(whole, random.Random(SEED))
        counts["spans_cut"] += sum(
            span.dropped_attributes_count > other.dropped_attributes_count
            for span, other in zip(trace.spans, whole.spans, strict=True)
        )
        before, after = pairs(rows, records(whole)), pairs(rows, records(trace))
        for (row, known), (_, left) in zip(before, after, strict=True):
            found = _lost(row, known, left)
            counts.update(found)
            if found["untold"] or found["wrong"]:
                misses.append(f"{trace_id} {dict(found)}")
    return counts


def _lost(row: Truth, known: RagRecord | None, left: RagRecord | None) -> Counter[str]:
    counts: Counter[str] = Counter()
    if known is None or left is None:
        counts["records_lost"] += known is not None
        return counts
    wanted, before, after = expected(row), said(known), said(left)
    for name in FIELDS:
        if before[name] != wanted[name] or after[name] == wanted[name]:
            continue
        reasons = {left.absent.get(field_name) for field_name in TOLD_BY[name]}
        is_told = Absent.TRUNCATED in reasons or "attributes" in left.truncated
        counts["lost"] += 1
        counts["untold"] += not is_told
        counts["wrong"] += bool(after[name])
        counts[f"wrong_{name}"] += bool(after[name])
    return counts


def main() -> None:
    """Prints per cut what was lost, then the JSON line."""
    data = None if parse_small(__doc__) else bench_data()
    folder = data / "captures" if data else SAMPLES / "otlp"
    captures = {path.name: load(path) for path in captured_sets(folder)}
    figures: dict[str, object] = {}
    wrong = untold = cut = 0
    for limit in LIMITS:
        for end, drop in ENDS.items():
            total: Counter[str] = Counter()
            for name, capture in captures.items():
                misses: list[str] = []
                total += losses(capture, drop(limit), misses)
                for miss in misses[:2]:
                    progress(f"{limit} {end} {name}: {miss}")
            figures[f"{end}_dropped_beyond_{limit}"] = dict(total)
            wrong, untold = wrong + total["wrong"], untold + total["untold"]
            cut += total["spans_cut"]
    bars = {
        "spans were cut": cut > 0,
        "nothing stated wrongly": wrong == 0,
        "every loss told": untold == 0,
    }
    finish("attribute_limits", figures, bars, seed=SEED)


if __name__ == "__main__":
    main()
