"""Vectors of texts by the daemon's local model, kept in a file: a rerun computes only new ones."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.rig.report import progress
from ragvigil.inference.outcome import Unavailable
from ragvigil.inference.process import Inference
from ragvigil.inference.settings import InferenceSettings
from scorers.text.normalise import words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float32]

DIMENSIONS = 128
AT_ONCE = 64


class Vectors:
    """Embeds texts once; an `Embedder`. Without `is_real`, by the hashes of their words."""

    def __init__(self, path: Path | None, *, is_real: bool) -> None:
        self._path, self._is_real = path, is_real
        self._known: dict[str, Numbers] = {}
        self.embedding_name = "MiniLM" if is_real else "words"
        self.embedding_version = "1"
        self._inference: Inference | None = None
        if path is not None and path.exists():
            with np.load(path) as stored:
                self._known = dict(zip(stored["keys"].tolist(), stored["rows"], strict=True))
        self._saved = len(self._known)

    def embed(self, texts: Sequence[str]) -> Numbers:
        """A unit vector per text as rows."""
        keys = [blake2b(text.encode(), digest_size=12).hexdigest() for text in texts]
        fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        names = sorted(fresh)
        for start in range(0, len(names), AT_ONCE):
            some = names[start : start + AT_ONCE]
            self._known.update(zip(some, self._compute([fresh[key] for key in some]), strict=True))
            if self._is_real and len(names) > AT_ONCE:
                progress(f"{start + len(some)} of {len(names)} texts embedded")
        return np.stack([self._known[key] for key in keys])

    def save(self) -> None:
        """Writes the vectors that are new."""
        if self._path is not None and len(self._known) > self._saved:
            rows = np.stack(list(self._known.values()))
            np.savez(self._path, keys=np.array(list(self._known)), rows=rows)
            self._saved = len(self._known)

    def close(self) -> None:
        """Writes what is new, and ends the model's process."""
        self.save()
        if self._inference is not None:
            self._inference.close()
            self._inference = None

    def _compute(self, texts: Sequence[str]) -> Numbers:
        if not self._is_real:
            return np.stack([_hashed(text) for text in texts])
        if self._inference is None:
            self._inference = Inference(InferenceSettings(cpu_share=64, timeout_seconds=600))
        vectors = self._inference.embed(texts)
        if isinstance(vectors, Unavailable):
            raise RuntimeError(f"no local model: {vectors}")
        return vectors


def _hashed(text: str) -> Numbers:
    """Counts of words, each at a place that its hash names."""
    row = np.full(DIMENSIONS, 1e-3, dtype=np.float32)
    for word in words(text):
        row[
            int.from_bytes(blake2b(word.encode(), digest_size=2).digest(), "little") % DIMENSIONS
        ] += 1
    return np.asarray(row / np.linalg.norm(row))
