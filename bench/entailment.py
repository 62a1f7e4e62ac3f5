"""Does the local entailment model tell supported sentences from others better than the trees do?

.venv/bin/python bench/entailment.py [--small] [--most 1200]

Answers of labelled sets, through the model process and `scorers/local/entailment.py` as the daemon
runs them. Groups are split by hash into *fit* and *measure*; figures are of *measure*. By set: the
area under the ROC curve of the trees and of both models, with the interval of 95 % of 300 draws of
whole groups; and what the label of answers under a bar is on, of the supported ones and of the
others, with Wilson's interval: by the shipped bar (`labels`), and by the one that the daemon learns
of healthy answers, here the supported ones of *fit* (`learned`; ADR 40).
`cited` is the support of a claim by the chunk that it cites. `contradicted` is the share of
supported answers with a sentence that is said to be contradicted. No set was learned from, but of
SummEdits and WiCE the other half.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.rig.labelled import auroc, rows
from bench.rig.options import size_parser
from bench.rig.processes import cpu_seconds
from bench.rig.report import finish, progress
from bench.rig.unseen_answers import is_fit
from ragvigil.inference.process import Inference
from ragvigil.inference.settings import InferenceSettings
from ragvigil.model.record import Citation, Document, RagRecord
from ragvigil.model.signal import USUAL_SHARE
from ragvigil.model.wilson import wilson
from ragvigil.store.issues.spikes import bar_of
from scorers.grounding.entailment import CONTRADICTED, FILE, UNSUPPORTED, WEAK
from scorers.grounding.model import answer_value, shipped_model
from scorers.local.entailment import Sentence, sentences_of
from scorers.text.sentences import sentences
from tools.training.grounded_examples import Row, group_of, is_held_out, is_supported

SEED = 35
SETS = ("ragtruth_qa", "attributionbench_dev", "lfqa_verification", "summedits", "wice_claims")
HALVED = ("summedits", "wice_claims")
CLAIMS = ("attributionbench_dev", "lfqa_verification", "wice_claims")
"""Sets whose answer is a claim and whose chunks are what it cites."""
LEAST_GAIN = -0.015
"""Of the area of both models over that of the trees, on any set."""
LEAST = {
    "ragtruth_qa": 0.71, "attributionbench_dev": 0.72, "lfqa_verification": 0.91,
    "summedits": 0.62, "wice_claims": 0.84,
}  # fmt: skip
"""By set, the least area of both models: 0.02 to 0.04 under what was measured."""
MOST_ANSWERS, DRAWS = 1200, 300
LEAST_AREA, LEAST_RECALL = 0.8, 0.40
"""From this area on the learned bar finds so many of the others, at 5 % false alarms."""
FEWEST = 20
"""Supported answers of *fit* without which there is no bar; the daemon wants 100."""
TIMED = 200
MOST_MILLISECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A labelled answer and its sentences."""

    group: str
    is_supported: bool
    sentences: Sequence[Sentence]


Way = Callable[[Judged], float]
WAYS: dict[str, Way] = {
    "trees": lambda answer: answer_value([each.trees for each in answer.sentences]),
    "both": lambda answer: answer_value([each.supported for each in answer.sentences]),
    "cited": lambda answer: min(e.cited for e in answer.sentences if e.cited is not None),
    "contradicted": lambda answer: 1 - max(each.contradicted for each in answer.sentences),
}
LABELS: dict[str, tuple[Way, float]] = {
    "unsupported_by_trees": (
        lambda answer: min(each.trees for each in answer.sentences),
        shipped_model().threshold,
    ),
    "unsupported": (lambda answer: min(each.supported for each in answer.sentences), UNSUPPORTED),
    "weak_support": (WAYS["cited"], WEAK),
    "contradicted": (WAYS["contradicted"], 1 - CONTRADICTED),
}
"""What an answer's sentences have to lie under for the label."""


def record_of(answer: str, question: str, contents: Sequence[str], *, is_cited: bool) -> RagRecord:
    """The record of an answer; each sentence cites every chunk if `is_cited`."""
    context = tuple(Document(chunk_id=f"c{at}", content=text) for at, text in enumerate(contents))
    cited = tuple(
        Citation(
            target=of.chunk_id, chunk_id=of.chunk_id, claim_start=said.start, claim_end=said.end
        )
        for of in context
        for said in sentences(answer)
    )
    return RagRecord(
        record_id="1", trace_id="1", query=question, context=context, answer=answer,
        citations=cited if is_cited else (),
    )  # fmt: skip


def judged(name: str, most: int, inference: Inference) -> Iterator[Judged]:
    """Up to `most` answers of a set, by chance, that have a label and words."""
    labelled = [
        row
        for row in rows(name)
        if is_supported(row) is not None and (name not in HALVED or is_held_out(row))
    ]
    for row in random.Random(SEED).sample(labelled, min(most, len(labelled))):
        found = of_row(row, inference, is_cited=name in CLAIMS)
        if found:
            yield Judged(group=group_of(row), is_supported=bool(is_supported(row)), sentences=found)


def of_row(row: Row, inference: Inference, *, is_cited: bool) -> list[Sentence]:
    """The sentences of a row's answer; none if it has no words."""
    contents = [chunk["text"] or "" for chunk in row["chunks"]]
    answer, question = row["answer"], row.get("question") or ""
    found = sentences_of(record_of(answer, question, contents, is_cited=is_cited), inference)
    if isinstance(found, str):
        if found != "no sentence can be compared":
            raise SystemExit(found)
        return []
    return found


def area(answers: Sequence[Judged], way: Way) -> list[float]:
    """AUROC and the interval of 95 % of draws of whole groups."""
    labels, values = [each.is_supported for each in answers], [way(each) for each in answers]
    places: dict[str, list[int]] = defaultdict(list)
    for at, answer in enumerate(answers):
        places[answer.group].append(at)
    groups, chance, draws = list(places.values()), random.Random(SEED), []
    for _ in range(DRAWS):
        drawn = [at for group in chance.choices(groups, k=len(groups)) for at in group]
        own = [labels[at] for at in drawn]
        if 0 < sum(own) < len(own):
            draws.append(auroc(own, [values[at] for at in drawn]))
    low, high = np.quantile(draws, (0.025, 0.975))
    return [round(float(figure), 3) for figure in (auroc(labels, values), low, high)]


def learned(fit: Sequence[Judged], measure: Sequence[Judged], way: Way) -> dict[str, Any]:
    """The bar from the supported answers of `fit`, and what lies under it in `measure`."""
    counts = [0] * 21
    for each in fit:
        if each.is_supported:
            counts[round(way(each) * 20)] += 1
    bar = bar_of(counts, FEWEST)
    found: dict[str, Any] = {"bar": bar, "of": sum(counts)}
    for name, wanted in (("false_alarms", True), ("recall", False)):
        under = [way(each) < (bar or 0.0) for each in measure if each.is_supported is wanted]
        found[name] = share(under)
    return found


def share(hits: Sequence[bool]) -> list[float]:
    """The share of hits, how many were asked, and Wilson's interval."""
    low, high = wilson(sum(hits), len(hits))
    return [round(sum(hits) / max(1, len(hits)), 3), len(hits), round(low, 3), round(high, 3)]


def figures_of(name: str, answers: Sequence[Judged]) -> dict[str, Any]:
    """The figures of a set."""
    fit = [each for each in answers if is_fit(each.group)]
    measure = [each for each in answers if not is_fit(each.group)]
    ways = [way for way in WAYS if way != "cited" or name in CLAIMS]
    supported = [each for each in measure if each.is_supported]
    others = [each for each in measure if not each.is_supported]
    return {
        "answers": len(measure),
        "supported": len(supported),
        **{way: area(measure, WAYS[way]) for way in ways},
        "learned": {way: learned(fit, measure, WAYS[way]) for way in ways},
        "labels": {
            label: {
                "false_alarms": share([way(each) < bar for each in supported]),
                "recall": share([way(each) < bar for each in others]),
            }
            for label, (way, bar) in LABELS.items()
            if label != "weak_support" or name in CLAIMS
        },
    }


def promises(name: str, found: dict[str, Any]) -> dict[str, bool]:
    """What the learned bars of a set must do: few false alarms, and recall where the area allows.

    5 % is a promise of the mean over pasts, so the interval of the false alarms must hold it.
    """
    bars = {}
    for way in ("trees", "both"):
        of_bar = found["learned"][way]
        low = of_bar["false_alarms"][2]
        bars[f"{name}: {way}, at most {USUAL_SHARE:.0%} false alarms"] = low <= USUAL_SHARE
        if found[way][0] >= LEAST_AREA:
            enough = of_bar["recall"][0] >= LEAST_RECALL
            bars[f"{name}: {way}, recall >= {LEAST_RECALL}"] = enough
    return bars


def own_passage(inference: Inference) -> float:
    """AUROC of answers with their own passage against those with the next one (CLAP NQ sample)."""
    sample = [row for row in rows("clapnq_dev", small=True) if row["answer"]]
    labels, values = [], []
    for at, row in enumerate(sample):
        for other in (row, sample[at - 1]):
            passage = " ".join(sentence["text"] for sentence in other["sentences"])
            record = record_of(row["answer"], "", [passage], is_cited=False)
            found = sentences_of(record, inference)
            if isinstance(found, str):
                raise SystemExit(found)
            labels.append(other is row)
            values.append(answer_value([each.supported for each in found]))
    return auroc(labels, values)


def milliseconds(inference: Inference) -> float:
    """CPU time of the model process for a sentence of 30 words and a premise of 72, each new."""
    sample = rows("clapnq_dev", small=True)
    stock = " ".join(each["text"] for row in sample for each in row["sentences"]).split()
    pairs = [
        (" ".join(stock[at : at + 72]), " ".join(stock[at + 72 : at + 102])) for at in range(TIMED)
    ]
    inference.entail(FILE, pairs[:1])
    child = inference.child_pid
    assert child is not None, "the model process has just answered"
    begin = cpu_seconds(child)
    inference.entail(FILE, pairs[1:])
    return round(1000 * (cpu_seconds(child) - begin) / (TIMED - 1), 1)


def main() -> None:
    """Measures and prints."""
    parser = size_parser(__doc__)
    parser.add_argument("--most", type=int, default=MOST_ANSWERS, help="answers of a set")
    given = parser.parse_args()
    figures: dict[str, object] = {"model": FILE.version}
    bars: dict[str, bool] = {}
    settings = InferenceSettings(embedding_model="", timeout_seconds=600)
    with closing(Inference(settings)) as inference:
        if given.small:
            value = own_passage(inference)
            figures["own_passage"] = round(value, 4)
            bars["own passage from another: AUROC >= 0.95"] = value >= 0.95
        else:
            figures["milliseconds"] = spent = milliseconds(inference)
            bars[f"<= {MOST_MILLISECONDS} ms CPU a sentence"] = spent <= MOST_MILLISECONDS
            for name in SETS:
                answers = list(judged(name, given.most, inference))
                figures[name] = found = figures_of(name, answers)
                gain = found["both"][0] - found["trees"][0]
                bars[f"{name}: AUROC >= {LEAST[name]}"] = found["both"][0] >= LEAST[name]
                bars[f"{name}: both at least the trees {LEAST_GAIN:+}"] = gain >= LEAST_GAIN
                bars |= promises(name, found)
                progress(f"{name}: {len(answers)} answers")
    finish("entailment", figures, bars, seed=SEED)


if __name__ == "__main__":
    main()
