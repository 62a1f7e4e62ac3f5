"""Turns a checkpoint of the entailment model into the ONNX file that is shipped: 8 bits a weight.

    python -m tools.training.entailment_export FOLDER --out scorers/models/entailment.onnx

FOLDER is that of `tools.training.entailment`. The file holds its tokenizer and its limits as
metadata, so that it is the whole model. Needs onnx and onnxruntime. Prints a JSON line: the size,
the SHA-256 that `scorers/grounding/entailment.py` must name, and by how much its probabilities
differ from those of the network before.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from ragvigil.inference.models import load
from scorers.grounding.entailment import Support
from tools.training.entailment import restored
from tools.training.entailment_network import MOST_TOKENS, Network, base_folder
from tools.training.entailment_pairs import Pair

MOST_CHARACTERS = 2 * MOST_TOKENS
"""Of a sentence; as in the training."""
OPSET = 17
COMPARED = (
    ("Card refunds take 5 to 7 business days.", "Refunds to a card take 5 to 7 days."),
    ("Card refunds take 5 to 7 business days.", "Refunds to a card take 9 days."),
    ("The shop is closed on Sunday. It opens at nine.", "Anna Berg founded it in 1990."),
)
"""Pairs that the file and the network must judge alike."""


class Exported(nn.Module):  # type: ignore[misc]
    """The network on one pair without padding: tokens and their parts to probabilities."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, ids: Any, types: Any) -> Any:
        """Probabilities of `Support`, shape (pairs, 3)."""
        sentence, _ = self.network(ids, torch.ones_like(ids), types)
        return sentence.softmax(-1)


def export(network: Network, tokenizer: str, out: Path) -> None:
    """Writes the file; `tokenizer` is the JSON text of one."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    network.eval()
    ids = torch.tensor([[101, 2003, 102, 2009, 102]])
    types = torch.tensor([[0, 0, 0, 1, 1]])
    size = {0: "pairs", 1: "tokens"}
    with tempfile.TemporaryDirectory() as folder:
        whole, small = Path(folder) / "whole.onnx", Path(folder) / "small.onnx"
        torch.onnx.export(
            Exported(network), (ids, types), str(whole), input_names=["ids", "types"],
            output_names=["chances"], dynamic_axes={"ids": size, "types": size},
            opset_version=OPSET, dynamo=False,
        )  # fmt: skip
        # One scale a matrix moved the probabilities of 150 pairs by 0.042 on average; so by 0.009.
        quantize_dynamic(str(whole), str(small), per_channel=True, weight_type=QuantType.QInt8)
        model = onnx.load(str(small))
    facts = {
        "tokenizer": json.dumps(json.loads(tokenizer), separators=(",", ":"), ensure_ascii=False),
        "most_tokens": str(MOST_TOKENS),
        "most_characters": str(MOST_CHARACTERS),
    }
    onnx.helper.set_model_props(model, facts)
    model.doc_string = ""
    out.write_bytes(model.SerializeToString(deterministic=True))


def differences(network: Network, base: Path, out: Path, pairs: Sequence[Pair]) -> list[float]:
    """By pair, the largest difference of a probability of the file from one of the network."""
    from tools.training.entailment_measure import network_judge

    before = np.array(network_judge(network, base)(pairs))
    after = load("entail", str(out)).run([(pair.premise, pair.sentence) for pair in pairs])
    return [float(gap) for gap in np.abs(before - after).max(axis=1)]


def main() -> None:
    """Exports the checkpoint of a folder."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    base = base_folder()
    network = Network.from_base(base)
    step = restored(network, None, given.folder)
    export(network, (base / "tokenizer.json").read_text("utf-8"), given.out)
    pairs = [
        Pair(source="", group="", premise=premise, sentence=text, support=Support.NOT)
        for premise, text in COMPARED
    ]
    content = given.out.read_bytes()
    gaps = differences(network, base, given.out, pairs)
    print(
        json.dumps({
            "steps": step, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest(),
            "differences": [round(gap, 3) for gap in gaps],
        })
    )  # fmt: skip


if __name__ == "__main__":
    main()
