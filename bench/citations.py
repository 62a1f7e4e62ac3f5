"""Citation validity: are invented quotations and wrong markers found, and good ones left alone?

Captured answers that are wrong on purpose, generated mutations in nine languages, and claims that
people judged supported, in other words than their source. Rows are halved by a hash of their id:
thresholds were chosen on one half, figures are of the other.
Run: `.venv/bin/python bench/citations.py [--small]`; `--explain` prints what went wrong.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.rig.mutations import HARMLESS, Case, Passage, cases, record_of
from bench.rig.options import parse_explain
from bench.rig.report import SAMPLES, bench_data, finish, progress
from collector.record.citations import CitationSource, citations
from ragvigil.model.record import Citation, Document, RagRecord
from scorers.citation_validity import CitationValidity

SEED = 11
MUTATIONS = 3_000
SETS = ("expertqa_claims", "attributionbench_dev")
RIVALS = 7
MARKER = re.compile(r"\s*\[\d+\]")
SPEEDS = {"cold_two_good_us": 300, "cold_five_bad_us": 1_500, "warm_one_exact_us": 60}
BAD_KINDS = ("swapped_word", "swapped_number", "negated", "stitched", "marker_swapped")


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a JSON-lines file, packed or not."""
    text = path.read_bytes()
    if path.suffix == ".gz":
        text = gzip.decompress(text)
    yield from map(json.loads, text.decode("utf-8").strip().split("\n"))


def captured(paths: Iterable[Path]) -> Iterator[Case]:
    """Answers of the captured sets, as the truth rows give them."""
    for path in paths:
        for index, row in enumerate(rows(path)):
            kind = (row.get("stub") or {}).get("bad") or "good"
            shown = row["reranked"] or row["retrieved"]
            if not row["answer"] or not shown:
                continue
            context = tuple(
                Document(chunk_id=chunk["id"], content=chunk["text"]) for chunk in shown
            )
            found = citations(CitationSource(answer=row["answer"], context=context))
            if not found:
                continue
            record = RagRecord(
                record_id="1", trace_id="1", query=row["question"], context=context,
                answer=row["answer"], citations=found,
            )  # fmt: skip
            name = f"{path.parent.name}/{index}"
            yield Case(id=name, kind=f"captured:{kind}", record=record, is_good=kind == "good")


def abstractive(name: str, found: Sequence[dict[str, Any]]) -> Iterator[Case]:
    """Supported claims among rivals that BM25 finds for them; and with the marker moved to one."""
    import bm25s

    pool = {chunk["text"]: row["group"] for row in found for chunk in row["chunks"]}
    texts = list(pool)
    index = bm25s.BM25()
    index.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
    for row in found:
        if not row["supported"] or len(row["chunks"]) != 1:
            continue
        claim = MARKER.sub("", row["answer"]).strip()
        own = row["chunks"][0]["text"]
        hits, _ = index.retrieve(
            bm25s.tokenize(claim, show_progress=False), k=min(40, len(texts)), show_progress=False
        )
        rivals = [texts[hit] for hit in hits[0] if pool[texts[hit]] != row["group"]][:RIVALS]
        if len(rivals) < RIVALS or not claim:
            continue
        context = [Passage(id=f"c{i}", language="en", text=text)
                   for i, text in enumerate([own, *rivals])]  # fmt: skip
        for kind, cited in (("supported", "c0"), ("moved", "c1")):
            record = record_of(claim, cited, context, is_quote=False)
            yield Case(id=row["id"], kind=f"{name}:{kind}", record=record, is_good=cited == "c0")


def is_held_out(case: Case) -> bool:
    """Half of the rows, by a hash of their id: the half that no threshold was chosen on."""
    return hashlib.sha256(case.id.encode()).digest()[0] % 2 == 1


def failing(found: Iterable[Case], *, explain: bool) -> dict[str, dict[str, list[bool]]]:
    """By half and kind, whether each case fails the rubric."""
    scorer = CitationValidity()
    fails: dict[str, dict[str, list[bool]]] = {
        "chosen": defaultdict(list),
        "held": defaultdict(list),
    }
    for case in found:
        score = scorer.score(case.record)
        is_failed = score.value is not None and score.value < 1
        fails["held" if is_held_out(case) else "chosen"][case.kind].append(is_failed)
        if case.language != "en" or ":" not in case.kind:
            fails["held"][f"{case.kind.split(':')[0]}/{case.language}"].append(is_failed)
        if explain and is_failed == case.is_good:
            progress(f"{case.kind} {score.label or 'passed'}: {case.record.answer!r}"[:400])
            progress("    " + json.dumps(score.details, ensure_ascii=False)[:300])
    return fails


def rate(fails: dict[str, list[bool]], prefix: str) -> tuple[float, int]:
    """The share that fails of all kinds with a prefix, and how many there are."""
    seen = [
        has_failed
        for kind, found in fails.items()
        if kind.startswith(prefix)
        for has_failed in found
    ]
    return (round(sum(seen) / len(seen), 4) if seen else 0.0), len(seen)


def passages(data: Path | None) -> list[Passage]:
    """Own passages in nine languages; English texts of the sets beside them."""
    own = [Passage(**row) for row in rows(SAMPLES / "data" / "citation_passages.jsonl")]
    if data is None:
        return own
    sampled = [
        Passage(id=f"{row['id']}-{i}", language="en", text=passage["text"][:900])
        for row in list(rows(data / "data" / "clapnq_dev.jsonl.gz"))[:120]
        for i, passage in enumerate(row["chunks"][:1])
    ]
    return own * 4 + sampled


def speeds() -> dict[str, float]:
    """Microseconds of one score: cold and warm with good quotations, cold with bad ones."""
    from scorers.text import chunk_text as prepared

    chance = random.Random(SEED)
    vocabulary = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 10)))
                  for _ in range(900)]  # fmt: skip
    texts = [" ".join(chance.choices(vocabulary, k=120)) for _ in range(8)]
    context = tuple(Document(chunk_id=f"c{i}", content=text) for i, text in enumerate(texts))

    def record(quotes: Sequence[tuple[str, str]]) -> RagRecord:
        made = tuple(Citation(target=name, chunk_id=name, quote=quote) for name, quote in quotes)
        return RagRecord(record_id="1", trace_id="1", context=context, citations=made)

    def part(index: int, begin: int) -> str:
        return " ".join(texts[index].split()[begin : begin + 15])

    two_parts = record([("c3", part(3, 20))])
    good = record([("c1", part(1, 10)), ("c5", part(5, 60))])
    changed = [(f"c{i}", part(i, 30).replace(texts[i].split()[37], "zzz")) for i in range(3)]
    bad = record([*changed, ("c3", part(1, 10)), ("c4", " ".join(vocabulary[:15]))])
    scorer = CitationValidity()

    def micros(of: RagRecord, *, cold: bool) -> float:
        best = []
        for _ in range(60):
            if cold:
                prepared.CHUNKS.forget()
            begun = time.perf_counter()
            scorer.score(of)
            best.append(time.perf_counter() - begun)
        return round(sorted(best)[len(best) // 2] * 1e6, 1)

    return {
        "cold_two_good_us": micros(good, cold=True),
        "cold_five_bad_us": micros(bad, cold=True),
        "warm_one_exact_us": micros(two_parts, cold=False),
    }


def gathered(data: Path | None, *, small: bool) -> Iterator[Case]:
    """All cases: of the committed samples, or of the data."""
    chance = random.Random(SEED)
    source = None if small else data
    captures = SAMPLES / "otlp" if source is None else source / "captures"
    yield from captured(sorted(captures.glob("*/truth.jsonl")))
    progress("captures done")
    yield from cases(passages(source), 900 if small else MUTATIONS, chance)
    progress("mutations done")
    for name in SETS:
        path = (
            SAMPLES / "data" / f"{name}.jsonl"
            if source is None
            else source / "data" / f"{name}.jsonl.gz"
        )
        if path.exists():
            yield from abstractive(name, list(rows(path)))
            progress(f"{name} done")


def main() -> None:
    """Measures and prints."""
    given = parse_explain(__doc__)
    small = given.small
    fails = failing(gathered(bench_data(), small=small), explain=given.explain)
    held, chosen = fails["held"], fails["chosen"]
    if small:  # few rows: both halves
        held = {kind: held.get(kind, []) + chosen.get(kind, []) for kind in {*held, *chosen}}
    figures: dict[str, object] = {"half": "both" if small else "held out"}
    kinds = sorted({*held, *chosen})
    figures["failing"] = {kind: rate(held, kind) for kind in kinds}
    figures["failing_chosen_half"] = {
        kind: rate(chosen, kind)[0] for kind in kinds if "/" not in kind
    }
    edits = [
        has_failed
        for kind, found in held.items()
        if kind.split(":")[0] in ("verbatim", *HARMLESS)
        for has_failed in found
    ]
    both = {kind: held.get(kind, []) + chosen.get(kind, []) for kind in kinds if "captured" in kind}
    figures["captures_both_halves"] = {kind: rate(both, kind) for kind in sorted(both)}
    bars = {
        "recall of fabricated quotes >= 0.95": rate(both, "captured:fabricated")[0] >= 0.95,
        "recall of wrong citations >= 0.90": rate(both, "captured:wrong")[0] >= 0.90,
        "false alarms on good captured answers <= 0.02": rate(both, "captured:good")[0] <= 0.02,
        "false alarms on harmless edits <= 0.02": sum(edits) <= 0.02 * len(edits),
    }
    for kind in BAD_KINDS:
        bars[f"recall of {kind} >= 0.95"] = rate(held, kind + ":")[0] >= 0.95
    for name in SETS:
        share, count = rate(held, f"{name}:supported")
        if count:
            bars[f"false alarms on {name} <= 0.05"] = share <= 0.05
    figures["harmless"] = [round(sum(edits) / len(edits), 4), len(edits)]
    figures["speed"] = measured = speeds()
    if not small:
        bars |= {f"{name} <= {bound}": measured[name] <= bound for name, bound in SPEEDS.items()}
    finish("citations", figures, bars, seed=SEED)


if __name__ == "__main__":
    main()
