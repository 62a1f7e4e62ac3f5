"""Pairs of texts: the real child with a tiny cross-encoder, whose weights are chance."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from ragvigil.inference import weights
from ragvigil.inference.outcome import Reason, Unavailable
from ragvigil.inference.process import Inference
from ragvigil.inference.settings import InferenceSettings

pytestmark = pytest.mark.slow

for package in ("sentence_transformers", weights.PACKAGE):
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed", allow_module_level=True)

BUILD = """
import sys
import torch
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification
torch.manual_seed(0)
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
for labels in (1, 3):
    config = BertConfig(vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1,
                        num_attention_heads=2, intermediate_size=32, num_labels=labels)
    folder = f"{sys.argv[2]}/{labels}"
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
"""
PAIRS = [("a question", f"passage {place} {'long ' * place}") for place in range(40)]


@pytest.fixture(scope="module")
def cross_encoders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders `1` and `3`: a model with so many labels in each."""
    folder = tmp_path_factory.mktemp("cross_encoders")
    tokenizer = weights.locate(InferenceSettings().embedding_model)
    command = [sys.executable, "-c", BUILD, tokenizer, str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture(params=["1", "3"])
def inference(request: pytest.FixtureRequest, cross_encoders: Path) -> Iterator[Inference]:
    model = str(cross_encoders / request.param)
    inference = Inference(InferenceSettings(cross_encoder=model, embedding_model=""))
    yield inference
    inference.close()


def test_each_pair_has_a_value_for_each_label_in_its_place(
    inference: Inference, request: pytest.FixtureRequest
) -> None:
    labels = int(request.node.callspec.params["inference"])
    scores = inference.classify(PAIRS)
    assert isinstance(scores, np.ndarray)
    assert scores.shape == (len(PAIRS), labels)
    assert ((scores >= 0) & (scores <= 1)).all()
    if labels > 1:
        assert np.allclose(scores.sum(axis=1), 1, atol=1e-5)
    for place in (0, 20, 39):
        assert np.allclose(inference.classify([PAIRS[place]]), scores[place], atol=1e-5)
    assert len(np.unique(scores[:, 0])) > 1
    embedded = inference.embed(["a"])
    assert isinstance(embedded, Unavailable)
    assert embedded.reason == Reason.OFF
