"""Does an answer refuse? Against labelled answers in English and written ones in many languages.

    .venv/bin/python bench/refusal.py [--small]

Positive is `refused`. An answer that quotes a refusal is an alarm when it is called refused or
partial. The wordings (`rig/refusal_wordings.jsonl`) were written by somebody who does not know the
patterns, and whoever changes the patterns does not read them. Labelled answers in full are halved
by the hash of their group: patterns are tuned on one half and measured here on the other.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

from bench.rig.labelled import f1, rows
from bench.rig.report import bench_data, finish
from scorers.text.stance import classify

LEAST_F1 = 0.80
LEAST_RECALL = 0.95
MOST_REFUSED, MOST_PARTIAL = 0.01, 0.02
WORDINGS = Path(__file__).parent / "rig" / "refusal_wordings.jsonl"
SETS = ("delucionqa_refusal", "mtrag_un", "clapnq_dev")
WHOLE_SETS = (*SETS, "ragtruth_qa", "expertqa_claims", "lfqa_verification", "halueval_qa",
              "attributionbench_dev", "rgb_fact")  # fmt: skip

Row = Mapping[str, Any]


def is_refused(answer: str) -> bool:
    return classify(answer).label == "refused"


def is_full(row: Row) -> bool:
    """Whether the row's label says that its answer answers in full."""
    return (
        bool(row.get("answer"))
        and not row.get("unanswerable")
        and not row.get("refusal")
        and row.get("answerable", True)
        and row.get("refusal_form", "none") == "none"
        and row.get("label") not in ("PARTIAL", "UNDERSPECIFIED")
    )


def is_measured(row: Row) -> bool:
    """Whether the row is in the half that the patterns were not tuned on."""
    return crc32(str(row.get("group") or row["id"]).encode()) % 2 == 1


def by_language() -> dict[str, float]:
    """F1 in each language of the written refusals and answers."""
    written = rows("refusals", small=True)
    figures = {}
    for language in sorted({row["lang"] for row in written}):
        own = [row for row in written if row["lang"] == language]
        true = [row["label"] == "refused" for row in own]
        figures[language] = round(f1(true, [is_refused(row["answer"]) for row in own]), 4)
    return figures


def share(labels: Sequence[str], wanted: str) -> float:
    return round(labels.count(wanted) / max(1, len(labels)), 4)


def wordings() -> dict[str, dict[str, float]]:
    """By language, and for all, how refusals, near answers and partial answers are classified."""
    written = [json.loads(line) for line in WORDINGS.read_text("utf-8").splitlines()]
    languages = sorted({row["language"] for row in written})
    by_form = {
        language: _wordings_of([row for row in written if row["language"] == language])
        for language in languages
    }
    return by_form | {"all": _wordings_of(written)}


def _wordings_of(written: Sequence[Row]) -> dict[str, float]:
    labels: dict[str, list[str]] = {"refusal": [], "answer": [], "partial": []}
    for row in written:
        form = row["form"] if row["form"] in ("answer", "partial") else "refusal"
        labels[form].append(classify(row["text"]).label)
    return {
        "recall": share(labels["refusal"], "refused"),
        "false_refused": share(labels["answer"], "refused"),
        "false_partial": share(labels["answer"], "partial"),
        "partial_found": share(labels["partial"], "partial"),
    }


def full_answers(*, small: bool) -> dict[str, dict[str, float]]:
    """By set and for all: labelled answers in full that are called refused or partial."""
    names = SETS if small or bench_data() is None else WHOLE_SETS
    labels = {
        name: [
            classify(row["answer"]).label
            for row in rows(name, small=small)
            if is_full(row) and is_measured(row)
        ]
        for name in names
    }
    labels["all"] = [label for listed in labels.values() for label in listed]
    return {
        name: {
            "rows": len(listed),
            "refused": share(listed, "refused"),
            "partial": share(listed, "partial"),
        }
        for name, listed in labels.items()
    }


def main() -> None:
    small = "--small" in sys.argv
    turns = rows("mtrag_un", small=small)
    turns_f1 = f1(
        [bool(row["unanswerable"]) for row in turns], [is_refused(row["answer"]) for row in turns]
    )
    plain = [row for row in rows("delucionqa_refusal", small=small) if not row["refusal"]]
    alarms = sum(is_refused(row["answer"]) for row in plain) / len(plain)
    quoting = rows("quoted_refusals", small=True)
    quoted = sum(classify(row["answer"]).label != "answered" for row in quoting) / len(quoting)
    languages = by_language()
    unseen = wordings()
    full = full_answers(small=small)
    started = time.perf_counter()
    for row in plain:
        classify.__wrapped__(row["answer"])
    micros = (time.perf_counter() - started) / len(plain) * 1e6
    figures: dict[str, object] = {
        "mtrag_un_f1": round(turns_f1, 4),
        "languages_f1": languages,
        "wordings": unseen,
        "full_answers": full,
        "false_alarms_delucionqa": round(alarms, 4),
        "false_alarms_quoting": round(quoted, 4),
        "rows": [len(turns), len(plain), len(quoting)],
        "micros_an_answer": round(micros, 1),
    }
    bars = {
        f"mtrag_un F1 >= {LEAST_F1}": turns_f1 >= LEAST_F1,
        f"F1 >= {LEAST_F1} in each of 8 languages": len(languages) >= 8
        and min(languages.values()) >= LEAST_F1,
        "false alarms on delucionqa_refusal <= 0.01": alarms <= 0.01,
        "false alarms on answers that quote a refusal <= 0.05": quoted <= 0.05,
        f"recall on wordings >= {LEAST_RECALL}": unseen["all"]["recall"] >= LEAST_RECALL,
        f"full answers called refused <= {MOST_REFUSED}": full["all"]["refused"] <= MOST_REFUSED,
        f"full answers called partial <= {MOST_PARTIAL}": full["all"]["partial"] <= MOST_PARTIAL,
    }
    finish("refusal", figures, bars, seed=0)


if __name__ == "__main__":
    main()
