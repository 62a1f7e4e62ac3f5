"""Records against truth: question, texts, ids, answer and cited ids of captured instrumentors.

For every truth row whose spans carry a field (its string occurs in some attribute, event or log
body of the trace), the record must say the same. Run: `.venv/bin/python bench/conventions.py`.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.rig.captures import Capture, Truth, captured_sets, carried, load, where
from bench.rig.options import parse_small
from bench.rig.report import SAMPLES, bench_data, finish, progress
from bench.rig.trace_changes import UNNOTICED, Change
from collector.claims.registry import RegisteredConvention, registered
from collector.record.build import records
from ragvigil.model.record import RagRecord
from ragvigil.model.span import Trace

SEED = 7
FIELDS = ("question", "texts", "ids", "answer", "cited")
OVERALL, EACH, MUTATED = 0.98, 0.95, 0.01


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts of one set: per field how often spans carry it and how often the record is right."""

    carried: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    invented: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
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
        "cited": [citation.chunk_id or citation.target for citation in record.citations],
    }


def expected(row: Truth) -> dict[str, object]:
    """A truth row's five fields."""
    documents = row["retrieved"] or []
    return {
        "question": row["question"],
        "texts": [document["text"] for document in documents],
        "ids": [str(document["id"]) for document in documents],
        "answer": row["answer"],
        "cited": list(row["citations"] or []),
    }


def is_carried(name: str, wanted: dict[str, object], everything: str) -> bool:
    """Whether the trace's strings hold this field of the truth."""
    value = wanted[name]
    if name == "cited":
        return is_carried("answer", wanted, everything) and is_carried("ids", wanted, everything)
    if isinstance(value, list):
        return bool(value) and all(item in everything for item in value)
    return bool(value) and str(value) in everything


def judge(tally: Tally, rows: Sequence[Truth], found: Sequence[RagRecord], trace: Trace) -> None:
    """Compares the records of one trace with its truth rows, in order of time."""
    everything = carried(trace)
    tally.rows += len(rows)
    tally.records += len(found)
    if len(found) != len(rows):
        tally.misses.append(f"{trace.trace_id}: {len(found)} records for {len(rows)} rows")
    for row, record in pairs(rows, found):
        wanted = expected(row)
        got = said(record) if record is not None else dict.fromkeys(FIELDS)
        for name in FIELDS:
            if is_carried(name, wanted, everything):
                tally.carried[name] += 1
                tally.right[name] += got[name] == wanted[name]
                tally.wrong[name] += bool(got[name]) and got[name] != wanted[name]
                if got[name] != wanted[name]:
                    tally.misses.append(
                        f"{trace.trace_id} {name}: {_diff(got[name], wanted[name])}"
                    )
            elif _is_invented(name, got, wanted):
                tally.invented[name] += 1
                tally.misses.append(f"{trace.trace_id} invented {name}: {got[name]!r:.200}")


def pairs(
    rows: Sequence[Truth], found: Sequence[RagRecord]
) -> list[tuple[Truth, RagRecord | None]]:
    """Rows with their records: those of the same question first, the rest in order of time."""
    left = list(found)
    by_row: list[RagRecord | None] = []
    for row in rows:
        same = next((record for record in left if record.query == row["question"]), None)
        by_row.append(same)
        if same is not None:
            left.remove(same)
    rest = iter(left)
    return [
        (row, record if record is not None else next(rest, None))
        for row, record in zip(rows, by_row, strict=True)
    ]


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


def run(
    capture: Capture,
    change: Change | None = None,
    conventions: Sequence[RegisteredConvention] | None = None,
) -> Tally:
    """All traces of a capture with truth rows, optionally changed, or read without a convention."""
    tally = Tally()
    for trace_id, rows in capture.truth.items():
        trace = capture.traces.get(trace_id)
        if trace is None:
            continue
        changed = change(trace, random.Random(f"{SEED}{trace_id}")) if change else trace
        judge(tally, rows, records(changed, conventions=conventions), changed)
    stray = sum(
        len(records(trace)) for key, trace in capture.traces.items() if key not in capture.truth
    )
    if stray:
        tally.misses.append(f"{stray} records in traces without a truth row")
    return tally


def overall(tallies: Iterable[Tally]) -> dict[str, float]:
    """The share of each field over several sets."""
    total = Tally()
    for tally in tallies:
        total.carried.update(tally.carried)
        total.right.update(tally.right)
    return {name: total.share(name) for name in FIELDS}


def reproduced(folder: Path, capture: Capture) -> tuple[int, int]:
    """How many of where.json's counts this search finds as well, and how many there are."""
    path = folder / "where.json"
    if not path.exists():
        return 0, 0
    stated = json.loads(path.read_text(encoding="utf-8"))
    counted = where(capture)
    rows = [
        (kind, place, count)
        for kind in ("question=", "question~", "texts", "ids", "answer=", "answer~")
        for place, count in stated.get(kind, {}).items()
        if "…" not in place  # names that were shortened because they hold the question
    ]
    return sum(counted.get(kind, {}).get(place) == count for kind, place, count in rows), len(rows)


def main() -> None:
    """Prints per set what records get right, then the JSON line."""
    data = None if parse_small(__doc__) else bench_data()
    folder = data / "captures" if data else SAMPLES / "otlp"
    captures = {path.name: load(path) for path in captured_sets(folder)}
    tallies = {name: run(capture) for name, capture in captures.items()}
    for name, tally in tallies.items():
        progress(_line(name, tally))
        for miss in tally.misses[:3]:
            progress(f"    {miss}")
    mutated = {
        label: overall(run(capture, change) for capture in captures.values())
        for label, change in UNNOTICED.items()
    }
    without = {convention.name: _without(convention.name, captures) for convention in registered()}
    counts = [reproduced(folder / name, capture) for name, capture in captures.items()]
    stated = sum(total for _, total in counts)
    figures: dict[str, object] = {
        "sets": {name: _figures(tally) for name, tally in tallies.items()},
        "overall": {name: round(share, 4) for name, share in overall(tallies.values()).items()},
        "mutated": mutated,
        "wrong_without_convention": without,
        "where_counts": stated,
        "where_counts_reproduced": sum(same for same, _ in counts),
    }
    bars = _bars(tallies, mutated)
    bars["nothing stated wrongly without a convention"] = not any(without.values())
    bars["where.json's counts reproduced"] = figures["where_counts_reproduced"] == stated
    finish("conventions", figures, bars, seed=SEED)


def _bars(tallies: dict[str, Tally], mutated: dict[str, dict[str, float]]) -> dict[str, bool]:
    shares = overall(tallies.values())
    each = [tally.share(name) for tally in tallies.values() for name in FIELDS]
    moved = [
        abs(shares_then[name] - shares[name]) for shares_then in mutated.values() for name in FIELDS
    ]
    invented = sum(sum(tally.invented.values()) for tally in tallies.values())
    return {
        "sets found": bool(tallies),
        "each field >= 0.98 over all": min(shares.values()) >= OVERALL,
        "each field >= 0.95 in each set": min(each, default=0) >= EACH,
        "0 invented": invented == 0,
        "one record per question": all(t.records == t.rows for t in tallies.values()),
        "mutations within 0.01": max(moved, default=1) <= MUTATED,
    }


def _without(name: str, captures: dict[str, Capture]) -> int:
    """What is stated wrongly when one convention is taken away."""
    rest = [convention for convention in registered() if convention.name != name]
    tallies = [run(capture, conventions=rest) for capture in captures.values()]
    return sum(sum((tally.invented + tally.wrong).values()) for tally in tallies)


def _figures(tally: Tally) -> dict[str, object]:
    shares = {name: round(tally.share(name), 4) for name in FIELDS if tally.carried[name]}
    invented = sum(tally.invented.values())
    return {"rows": tally.rows, "records": tally.records, **shares, "invented": invented}


def _line(name: str, tally: Tally) -> str:
    shares = "  ".join(f"{name} {tally.right[name]}/{tally.carried[name]}" for name in FIELDS)
    return f"{name:30} records {tally.records}/{tally.rows}  {shares}"


if __name__ == "__main__":
    main()
