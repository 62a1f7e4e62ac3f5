"""Does an answer refuse? Against labelled answers in English and written ones in 8 languages.

    .venv/bin/python bench/refusal.py [--small]

Positive is `refused`. An answer that quotes a refusal is an alarm when it is called refused or
partial.
"""

from __future__ import annotations

import sys
import time

from bench.rig.labelled import f1, rows
from bench.rig.report import finish
from scorers.text.stance import classify

LEAST_F1 = 0.80


def is_refused(answer: str) -> bool:
    return classify(answer).label == "refused"


def by_language() -> dict[str, float]:
    """F1 in each language of the written refusals and answers."""
    written = rows("refusals", small=True)
    figures = {}
    for language in sorted({row["lang"] for row in written}):
        own = [row for row in written if row["lang"] == language]
        true = [row["label"] == "refused" for row in own]
        figures[language] = round(f1(true, [is_refused(row["answer"]) for row in own]), 4)
    return figures


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
    started = time.perf_counter()
    for row in plain:
        classify.__wrapped__(row["answer"])
    micros = (time.perf_counter() - started) / len(plain) * 1e6
    figures: dict[str, object] = {
        "mtrag_un_f1": round(turns_f1, 4),
        "languages_f1": languages,
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
    }
    finish("refusal", figures, bars, seed=0)


if __name__ == "__main__":
    main()
