"""The models. Imported by the child alone, which is the process that loads heavy libraries."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragvigil.inference.weights import NoModel, locate, version_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float32]

MODEL_ERRORS = (
    ArithmeticError,
    AttributeError,
    ImportError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""Raised by the libraries for a folder that is not a model, and for texts a model cannot read."""

Run = Callable[[Sequence[Any]], "Numbers"]


class Model:
    """A loaded model; `run` returns a row of numbers for each text or pair."""

    def __init__(self, run: Run, version: str) -> None:
        self.run = run
        self.version = version


def load(task: str, name: str) -> Model:
    """Loads the model of a task: `embed`, `classify`, `entail`. Raises NoModel with the reason."""
    place = locate(name, task)
    try:
        return LOADERS[task](place)
    except MODEL_ERRORS as error:
        first = str(error).strip().partition("\n")[0]
        raise NoModel(f"{name} does not load: {type(error).__name__}: {first}") from error


def _embedder(place: str) -> Model:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(place, device="cpu")
    return Model(partial(_embed, model), _version(place, model))


def _embed(model: Any, texts: Sequence[str]) -> Numbers:
    vectors: Numbers = model.encode(
        list(texts), batch_size=len(texts), normalize_embeddings=True, show_progress_bar=False
    )
    return vectors


def _cross_encoder(place: str) -> Model:
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(place, device="cpu")
    return Model(partial(_classify, model), _version(place, model))


def _classify(model: Any, pairs: Sequence[Sequence[str]]) -> Numbers:
    scores: Numbers = model.predict(
        [tuple(pair) for pair in pairs],
        batch_size=len(pairs),
        apply_softmax=model.num_labels > 1,
        show_progress_bar=False,
    )
    return scores.reshape(len(pairs), -1)


def _entailment(place: str) -> Model:
    """A network in ONNX that holds its tokenizer and its limits as metadata."""
    import onnxruntime
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
    options.inter_op_num_threads = 1
    with _named_errors():
        session = onnxruntime.InferenceSession(place, options, providers=["CPUExecutionProvider"])
    facts = session.get_modelmeta().custom_metadata_map
    tokenizer = Tokenizer.from_str(facts["tokenizer"])
    tokenizer.enable_truncation(int(facts["most_tokens"]), strategy="longest_first")
    tokenizer.no_padding()
    return Model(partial(_entail, session, tokenizer, int(facts["most_characters"])), "")


def _entail(
    session: Any, tokenizer: Any, most_characters: int, pairs: Sequence[Sequence[str]]
) -> Numbers:
    """A row for each premise and sentence; one after the other, so that none changes another's."""
    import numpy as np

    rows = []
    for premise, sentence in pairs:
        tokens = tokenizer.encode(premise, sentence[:most_characters])
        given = {
            "ids": np.array([tokens.ids], np.int64),
            "types": np.array([tokens.type_ids], np.int64),
        }
        with _named_errors():
            rows.append(session.run(["chances"], given)[0][0])
    return np.array(rows, np.float32)


@contextmanager
def _named_errors() -> Iterator[None]:
    """Turns errors of onnxruntime, whose classes have only Exception in common, into one kind."""
    try:
        yield
    except MODEL_ERRORS:
        raise
    except Exception as error:
        raise RuntimeError(str(error)) from error


def _version(place: str, model: Any) -> str:
    """For a folder the hash of its files, for a name the commit of the loaded files."""
    if Path(place).is_dir():
        return version_of(Path(place))
    commit = getattr(model[0].auto_model.config, "_commit_hash", None)
    return str(commit)[:12] if commit else place


LOADERS: Mapping[str, Callable[[str], Model]] = {
    "embed": _embedder,
    "classify": _cross_encoder,
    "entail": _entailment,
}
