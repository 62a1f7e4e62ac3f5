"""Says how well an entailment model tells supported answers from others, beside the trees.

    python -m tools.training.entailment_measure DATA --folder FOLDER [--most 400]

Prints a JSON line: by set the number of answers, and the area under the ROC curve of the trees, of
the entailment model and of the mean of both, each with the interval of 95 % of 300 draws of whole
groups. None of the sets' measured groups were trained on. An answer is worth the mean of its two
weakest sentences, as the trees have it.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from scorers.grounding.entailment import Support, joint
from scorers.grounding.features import measure
from scorers.grounding.model import answer_value, shipped_model
from scorers.grounding.premise import Premises
from tools.training.entailment import restored
from tools.training.entailment_network import Network, Texts, Tokenised, base_folder
from tools.training.entailment_pairs import HALVED, SEED, Pair
from tools.training.grounded_examples import Row, group_of, is_held_out, is_supported, read

SETS = ("ragtruth_qa", "attributionbench_dev", "lfqa_verification", "summedits", "wice_claims")
BATCH = 16
DRAWS = 300
WAYS = ("trees", "entailment", "both")
Chances = Sequence[float]
Judge = Callable[[Sequence[Pair]], Sequence[Chances]]
"""By pair the probability of each `Support`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A labelled answer; `trees` are the chances of its sentences to be supported."""

    group: str
    is_supported: bool
    trees: Sequence[float]
    pairs: Sequence[Pair]


def measured(folder: Path, name: str, most: int) -> Iterator[Measured]:
    """Up to `most` answers of a set, by chance, that have words."""
    rows = [
        row
        for row in read(folder, name)
        if is_supported(row) is not None and (name not in HALVED or is_held_out(row))
    ]
    chosen = np.random.default_rng(SEED).permutation(len(rows))[:most]
    yield from filter(None, (_of_row(name, rows[place]) for place in chosen))


def _of_row(name: str, row: Row) -> Measured | None:
    contents = [chunk["text"] or "" for chunk in row["chunks"]]
    model, premises, group = shipped_model(), Premises(contents), group_of(row)
    by_trees = measure(row["answer"], row.get("question") or "", contents, model.weights)
    if not by_trees.rows:
        return None
    said = [(premises.of(claim.text), claim.text) for claim in by_trees.claims]
    return Measured(
        group=group,
        is_supported=bool(is_supported(row)),
        trees=model.probabilities(by_trees.rows),
        pairs=[
            Pair(source=name, group=group, premise=premise, sentence=text, support=Support.NOT)
            for premise, text in said
        ],
    )


def network_judge(network: Network, base: Path) -> Judge:
    """The network as a judge of pairs."""
    texts, device = Texts(base), network.sentence.weight.device
    network.eval()

    def judge(pairs: Sequence[Pair]) -> Sequence[Chances]:
        tokenised = texts.of_pairs(pairs)
        order = sorted(range(len(pairs)), key=lambda place: len(tokenised[place].ids))
        result: list[Chances] = [()] * len(pairs)
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            given = Tokenised.tensors([tokenised[place] for place in places], device)
            with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16):
                sentence, _ = network(given["ids"], given["mask"], given["types"])
            for place, row in zip(places, sentence.float().softmax(-1).tolist(), strict=True):
                result[place] = row
        return result

    return judge


def areas(answers: Sequence[Measured], judge: Judge) -> dict[str, Any]:
    """The figures of a set."""
    labels = np.array([answer.is_supported for answer in answers])
    scores = np.array(list(_values(answers, judge)))
    places: dict[str, list[int]] = defaultdict(list)
    for at, answer in enumerate(answers):
        places[answer.group].append(at)
    groups, chance, draws = list(places.values()), np.random.default_rng(SEED), []
    for _ in range(DRAWS):
        drawn = [at for k in chance.integers(len(groups), size=len(groups)) for at in groups[k]]
        if 0 < labels[drawn].sum() < len(drawn):
            draws.append(_areas(labels[drawn], scores[drawn]))
    low, high = np.quantile(np.array(draws), (0.025, 0.975), axis=0)
    found = zip(WAYS, _areas(labels, scores), low, high, strict=True)
    return {"answers": len(answers), "supported": int(labels.sum())} | {
        way: [round(float(figure), 3) for figure in figures] for way, *figures in found
    }


def _values(answers: Sequence[Measured], judge: Judge) -> Iterator[tuple[float, ...]]:
    """The value of each answer by each of the WAYS."""
    judged = iter(judge([pair for answer in answers for pair in answer.pairs]))
    for answer in answers:
        own = [next(judged)[Support.SUPPORTED] for _ in answer.pairs]
        both = [joint(*chances) for chances in zip(answer.trees, own, strict=True)]
        yield answer_value(answer.trees), answer_value(own), answer_value(both)


def _areas(labels: Any, scores: Any) -> list[float]:
    from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]

    return [float(roc_auc_score(labels, scores[:, way])) for way in range(len(WAYS))]


def main() -> None:
    """Measures the checkpoint of a folder."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--most", type=int, default=400)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    given = parser.parse_args()
    network = Network.from_base(base_folder()).to(given.device)
    step = restored(network, None, given.folder)
    judge = network_judge(network, base_folder())
    figures = {
        name: areas(list(measured(given.data, name, given.most)), judge) for name in given.sets
    }
    print(json.dumps({"steps": step, **figures}))


if __name__ == "__main__":
    main()
