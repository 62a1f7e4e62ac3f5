"""Does an answer refuse? Against labelled answers in English and written ones in many languages.

    .venv/bin/python bench/refusal.py [--small]

Positive is `refused`. An answer that quotes a refusal is an alarm when it is called refused or
partial. Seven sets of wordings were written by people who do not know the patterns or the words.
Six may be read, and the model learned from them (LEARNED): `fit` says how well the code fits them,
no more; `tools/training/refusal_check.py` leaves out each in turn. Whoever changes patterns, words
or the model never reads the sixth (HELD_OUT), and the bars judge that alone. Labelled answers in
full are halved by the hash of their group: one half is learned from, the other is measured here.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

from bench.rig.labelled import f1, rows
from bench.rig.options import parse_small
from bench.rig.report import bench_data, finish
from scorers.text.stance import classify

LEAST_F1 = 0.80
LEAST_RECALL = 0.95
MOST_REFUSED, MOST_PARTIAL = 0.01, 0.02
MOST_NEAR_REFUSED = 0.02
FLOOR_RECALL, CEILING_PARTIAL, CEILING_NEAR = 0.94, 0.02, 0.06
"""What the small size judges on the held-out wordings, lest it get worse: two points worse than
what was measured. The full size judges the real bars."""
RIG = Path(__file__).parent / "rig"
LEARNED = ("refusal_wordings.jsonl", "refusal_wordings_own.jsonl", "refusal_wordings_unseen.jsonl",
           "refusal_wordings_third.jsonl", "refusal_wordings_fourth.jsonl",
           "refusal_wordings_fifth.jsonl")  # fmt: skip
HELD_OUT = "refusal_wordings_sixth.jsonl"
FORMS = {"full": "answer", "answer": "answer", "partial": "partial"}
"""What the labels of the sets name; every other label is a way to refuse."""
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


def wordings(*paths: Path) -> dict[str, dict[str, Any]]:
    """By language, and for all, how refusals, near answers and partial answers are classified."""
    lines = (line for path in paths for line in path.read_text("utf-8").splitlines())
    written = [json.loads(line) for line in lines]
    languages = sorted({row["language"] for row in written})
    by_form = {
        language: figures_of([row for row in written if row["language"] == language])
        for language in languages
    }
    return by_form | {"all": figures_of(written)}


def form_of(row: Row) -> str:
    """Whether a row of wordings is a refusal, an answer in full or a partial one."""
    return FORMS.get(row.get("label") or row["form"], "refusal")


def figures_of(written: Sequence[Row]) -> dict[str, Any]:
    """How the refusals, near answers and partial answers among these rows are classified."""
    labels: dict[str, list[str]] = {"refusal": [], "answer": [], "partial": []}
    for row in written:
        labels[form_of(row)].append(classify(row["text"]).label)
    return {
        "rows": {form: len(listed) for form, listed in labels.items()},
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


def of_labelled(*, small: bool) -> dict[str, Any]:
    """F1 on turns, false alarms on answers, and what an answer costs once the patterns are warm."""
    turns = rows("mtrag_un", small=small)
    plain = [row for row in rows("delucionqa_refusal", small=small) if not row["refusal"]]
    quoting = rows("quoted_refusals", small=True)
    true = [bool(row["unanswerable"]) for row in turns]
    alarms = [is_refused(row["answer"]) for row in plain]
    quoted = [classify(row["answer"]).label != "answered" for row in quoting]
    started = time.process_time()
    for row in plain:
        classify.__wrapped__(row["answer"])
    micros = (time.process_time() - started) / len(plain) * 1e6
    return {
        "mtrag_un_f1": round(f1(true, [is_refused(row["answer"]) for row in turns]), 4),
        "false_alarms_delucionqa": round(sum(alarms) / len(plain), 4),
        "false_alarms_quoting": round(sum(quoted) / len(quoting), 4),
        "rows": [len(turns), len(plain), len(quoting)],
        "micros_an_answer": round(micros, 1),
    }


def bars_of(figures: Mapping[str, Any], *, small: bool) -> dict[str, bool]:
    languages, full = figures["languages_f1"], figures["full_answers"]["all"]
    unseen = figures["unseen"]["all"]
    least = FLOOR_RECALL if small else LEAST_RECALL
    most = CEILING_PARTIAL if small else MOST_PARTIAL
    near = CEILING_NEAR if small else MOST_NEAR_REFUSED
    return {
        f"mtrag_un F1 >= {LEAST_F1}": figures["mtrag_un_f1"] >= LEAST_F1,
        f"F1 >= {LEAST_F1} in each of 8 languages": len(languages) >= 8
        and min(languages.values()) >= LEAST_F1,
        "false alarms on delucionqa_refusal <= 0.01": figures["false_alarms_delucionqa"] <= 0.01,
        "false alarms on answers that quote a refusal <= 0.05": figures["false_alarms_quoting"]
        <= 0.05,
        f"recall on unseen wordings >= {least}": unseen["recall"] >= least,
        f"unseen near answers called partial <= {most}": unseen["false_partial"] <= most,
        f"unseen near answers called refused <= {near}": unseen["false_refused"] <= near,
        f"full answers called refused <= {MOST_REFUSED}": full["refused"] <= MOST_REFUSED,
        f"full answers called partial <= {MOST_PARTIAL}": full["partial"] <= MOST_PARTIAL,
    }


def main() -> None:
    small = parse_small(__doc__)
    figures: dict[str, object] = {
        **of_labelled(small=small),
        "languages_f1": by_language(),
        "unseen": wordings(RIG / HELD_OUT),
        "fit": {name: wordings(RIG / name)["all"] for name in LEARNED},
        "full_answers": full_answers(small=small),
    }
    finish("refusal", figures, bars_of(figures, small=small), seed=0)


if __name__ == "__main__":
    main()
