"""Premises and sentences: the real child with a tiny network in ONNX."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from ragvigil.extras import ENTAILMENT, missing
from ragvigil.inference.outcome import Reason, Unavailable
from ragvigil.inference.process import Inference
from ragvigil.inference.settings import InferenceSettings
from ragvigil.inference.weights import ModelFile, NoModel, checked, locate

WORDS = ("[UNK]", "[SEP]", "red", "blue", "door")


def shipped(path: Path) -> ModelFile:
    return ModelFile(path=path, sha256=hashlib.sha256(path.read_bytes()).hexdigest())


def test_a_file_that_is_missing_or_another_one_is_said(tmp_path: Path) -> None:
    file = ModelFile(path=tmp_path / "small.onnx", sha256="00")
    with pytest.raises(NoModel, match=r"small\.onnx is not installed"):
        checked(file)
    file.path.write_bytes(b"weights")
    with pytest.raises(NoModel, match="checksum"):
        checked(file)
    assert checked(shipped(file.path)) == str(file.path)


def test_without_the_file_there_is_a_reason_and_no_process(tmp_path: Path) -> None:
    inference = Inference(InferenceSettings())
    answer = inference.entail(ModelFile(path=tmp_path / "none.onnx", sha256="00"), [("a", "b")])
    assert isinstance(answer, Unavailable)
    assert answer.reason == Reason.NO_MODEL
    assert "none.onnx is not installed" in str(answer)
    assert inference.child_pid is None


def test_switched_off_it_says_so(tmp_path: Path) -> None:
    inference = Inference(InferenceSettings(enabled=False))
    answer = inference.entail(ModelFile(path=tmp_path / "none.onnx", sha256="00"), [("a", "b")])
    assert isinstance(answer, Unavailable)
    assert answer.reason == Reason.OFF


def test_what_it_needs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from ragvigil.inference import weights

    unknown = replace(ENTAILMENT, modules=("no_such_module",))
    monkeypatch.setattr(weights, "NEEDED", {**weights.NEEDED, "entail": unknown})
    with pytest.raises(NoModel, match=r"ragvigil\[local\]"):
        locate("/somewhere/small.onnx", "entail")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> ModelFile:
    """A network whose first probability rises with the share of tokens that are the sentence's."""
    if missing(ENTAILMENT) or find_spec("onnx") is None:
        pytest.skip("onnxruntime or onnx is not installed")
    import onnx
    from onnx import TensorProto, helper
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel({w: at for at, w in enumerate(WORDS)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A", pair="$A [SEP] $B:1", special_tokens=[("[SEP]", 1)]
    )
    nodes = [
        helper.make_node("Cast", ["types"], ["marked"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMean", ["marked", "last"], ["share"], keepdims=1),
        helper.make_node("MatMul", ["share", "weights"], ["odds"]),
        helper.make_node("Softmax", ["odds"], ["chances"], axis=-1),
        helper.make_node("Identity", ["ids"], ["unused"]),
    ]
    given = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["pairs", "tokens"])
        for name in ("ids", "types")
    ]
    made = [
        helper.make_tensor_value_info("chances", TensorProto.FLOAT, ["pairs", 3]),
        helper.make_tensor_value_info("unused", TensorProto.INT64, ["pairs", "tokens"]),
    ]
    constants = [
        helper.make_tensor("last", TensorProto.INT64, [1], [1]),
        helper.make_tensor("weights", TensorProto.FLOAT, [1, 3], [4.0, 0.0, -4.0]),
    ]
    model = helper.make_model(
        helper.make_graph(nodes, "small", given, made, constants),
        opset_imports=[helper.make_opsetid("", 18)],
        ir_version=9,
    )
    facts = {"tokenizer": tokenizer.to_str(), "most_tokens": "8", "most_characters": "30"}
    helper.set_model_props(model, facts)
    path = tmp_path_factory.mktemp("entailment") / "small.onnx"
    onnx.save(model, str(path))
    return shipped(path)


@pytest.fixture
def inference() -> Iterator[Inference]:
    inference = Inference(InferenceSettings(embedding_model=""))
    yield inference
    inference.close()


@pytest.mark.slow
def test_each_pair_has_three_probabilities_in_its_place_whatever_is_asked_beside_it(
    inference: Inference, file: ModelFile
) -> None:
    pairs = [("red door", " ".join(["blue"] * count)) for count in range(1, 12)]
    rows = inference.entail(file, pairs)
    assert isinstance(rows, np.ndarray)
    assert rows.shape == (11, 3)
    assert np.allclose(rows.sum(axis=1), 1, atol=1e-5)
    assert (np.diff(rows[:5, 0]) > 0).all()  # a longer sentence, up to the tokens that are read
    alone = Inference(InferenceSettings(embedding_model=""))
    again = alone.entail(file, pairs[3:4])
    alone.close()
    assert np.array_equal(again, rows[3:4])


@pytest.mark.slow
def test_pairs_that_come_again_are_not_asked_again(inference: Inference, file: ModelFile) -> None:
    first = inference.entail(file, [("red", "blue"), ("blue", "red door")])
    inference.close()  # a call that needed the process would say so
    again = inference.entail(file, [("blue", "red door")])
    assert isinstance(first, np.ndarray)
    assert np.array_equal(again, first[1:])
    inference.forget()
    assert isinstance(inference.entail(file, [("red", "blue")]), Unavailable)


@pytest.mark.slow
def test_a_file_that_is_no_model_is_a_reason(inference: Inference, tmp_path: Path) -> None:
    path = tmp_path / "other.onnx"
    path.write_bytes(b"no model")
    answer = inference.entail(shipped(path), [("red", "blue")])
    assert isinstance(answer, Unavailable)
    assert answer.reason == Reason.NO_MODEL
    assert "does not load" in str(answer)


@pytest.mark.slow
def test_a_child_that_rests_has_ended_and_the_next_call_starts_another(
    inference: Inference, file: ModelFile
) -> None:
    inference.rest()  # without a child it does nothing
    assert not isinstance(inference.entail(file, [("red", "blue")]), Unavailable)
    before = inference.child_pid
    inference.rest()
    assert inference.child_pid is None
    assert not isinstance(inference.entail(file, [("blue", "red door")]), Unavailable)
    assert inference.child_pid not in (None, before)
