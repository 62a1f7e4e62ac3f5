"""Does every kind of perturbation do what it says, on rows that it was not written with?

    .venv/bin/python bench/perturbations.py [--small]

Rows of labelled sets with a question, an answer and the chunks that support it, from the half that
the hash of their group holds out. Checks of their own (`rig/perturbation_checks.py`) look at each
perturbed case. Rows of which a kind cannot be made are counted by reason.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any
from zlib import crc32

from bench.rig.labelled import rows
from bench.rig.options import parse_small
from bench.rig.perturbation_checks import problems
from bench.rig.report import finish, progress
from ragvigil.evaluation.case import Case
from ragvigil.evaluation.perturb.corpus import Corpus
from ragvigil.evaluation.perturb.injection import Injection, forms
from ragvigil.evaluation.perturb.perturb_set import KINDS, perturb
from ragvigil.evaluation.perturb.source import NotPossible, Source, source_of
from scorers.golden import Gold

SEED = 12
ROWS, SMALL_ROWS = 300, 40
SETS = ("clapnq_dev", "expertqa_claims", "mtrag_un", "ragtruth_qa", "halueval_qa",
        "attributionbench_dev", "rgb_fact")  # fmt: skip
SHIPPED = ("answered_passages",)
"""Rows of three of them, which the tests have."""
MOST_CHARACTERS = 6000
"""Of a chunk: longer ones are pages."""
Row = Mapping[str, Any]


def is_held_out(row: Row) -> bool:
    """Whether the row is of the half that the code was not written with."""
    return crc32(str(row.get("group") or row["id"]).encode()) % 2 == 1


def is_supported(row: Row) -> bool:
    """Whether the row's labels say that its chunks support its answer."""
    return (
        bool(row.get("question") and row.get("answer") and row.get("chunks"))
        and row.get("hallucinated") is not True
        and row.get("supported", True) is True
        and not row.get("unanswerable")
        and row.get("task_type") != "rgb_counterfactual"
        and max(len(chunk["text"]) for chunk in row["chunks"]) <= MOST_CHARACTERS
    )


def case_of(row: Row) -> Case:
    """The row as a golden case; a chunk that the labels call irrelevant is beside the gold."""
    chunks = [Gold(chunk_id=f"{row['id']}/{chunk['id']}", text=chunk["text"])
              for chunk in row["chunks"]]  # fmt: skip
    relevant = [chunk.get("relevance", 1) for chunk in row["chunks"]]
    gold = [chunk for chunk, is_gold in zip(chunks, relevant, strict=True) if is_gold]
    return Case(
        case_id=str(row["id"]),
        question=str(row["question"]),
        answer=str(row["answer"]),
        gold=tuple(gold),
        group=str(row.get("group") or row["id"]),
        context=tuple(chunks) if len(gold) < len(chunks) else None,
    )


def held_out(*, small: bool) -> list[Case]:
    """The cases, each question once, alike many of every set."""
    sets = [list(_of_set(name, small=small)) for name in (SHIPPED if small else SETS)]
    chance = Random(SEED)
    for cases in sets:
        chance.shuffle(cases)
    most = SMALL_ROWS if small else ROWS
    turns = (case for turn in zip(*map(_padded, sets), strict=False) for case in turn if case)
    return [case for case, _ in zip(turns, range(most), strict=False)]


def _of_set(name: str, *, small: bool) -> Iterator[Case]:
    asked = set()
    for row in rows(name, small=small):
        if is_supported(row) and is_held_out(row) and row["question"] not in asked:
            asked.add(row["question"])
            yield case_of(row)


def _padded(cases: list[Case]) -> list[Case | None]:
    return [*cases, *[None] * (ROWS * 2)]


def measured(sources: list[Source]) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """By kind: how many were made, how many hold, why others were not; and what is wrong."""
    figures, wrong = {}, defaultdict(list)
    for name, kind in KINDS.items():
        made = 0
        reasons: Counter[str] = Counter()
        for source in sources:
            try:
                case = perturb(source, kind, seed=SEED)
            except NotPossible as error:
                reasons[str(error)] += 1
                continue
            made += 1
            if found := problems(source, case):
                wrong[name].append(f"{case.case_id}: {found}")
        figures[name] = {"made": made, "hold": made - len(wrong[name]), "not_possible": reasons}
        progress(f"{name}: {figures[name]}")
    return figures, wrong


def forms_that_hold(sources: list[Source]) -> int:
    """How many forms of an order hold on the first cases."""
    held = 0
    for form in forms():
        cases = [(each, Injection().with_form(each, form, Random(form))) for each in sources[:10]]
        held += not any(problems(source, case) for source, case in cases)
    return held


def main() -> None:
    """Measures every kind on the held-out rows; every perturbed case must hold."""
    small = parse_small(__doc__)
    cases = held_out(small=small)
    corpus = Corpus(chunk for case in cases for chunk in (*case.gold, *(case.context or ())))
    sources, reasons = [], Counter[str]()
    for case in cases:
        try:
            sources.append(source_of(case, corpus))
        except NotPossible as error:
            reasons[str(error)] += 1
    figures, wrong = measured(sources)
    for name, listed in wrong.items():
        for line in listed[:10]:
            progress(f"{name}: {line}")
    held = forms_that_hold(sources)
    total = {"rows": len(cases), "no_kind": dict(reasons), "kinds": figures, "forms_hold": held}
    bars = {
        "every perturbed case does what it says": not any(wrong.values()),
        "20 forms of an injection hold": held == len(forms()) == 20,
        "every kind is possible on some rows": all(each["made"] for each in figures.values()),
    }
    if not small:
        bars["300 rows"] = len(cases) == ROWS
    finish("perturbations", total, bars, seed=SEED)


if __name__ == "__main__":
    main()
