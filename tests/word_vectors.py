"""Embeddings that a test can follow: texts are near by the words they share."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from ragvigil.inference.outcome import Reason, Unavailable
from ragvigil.inference.process import Inference
from ragvigil.inference.settings import InferenceSettings

DIMENSIONS = 384


class WordVectors(Inference):
    """Every word is a direction of its own; `version` is the model's, empty while it is off."""

    def __init__(self, version: str = "words-1") -> None:
        super().__init__(InferenceSettings(enabled=False))
        self.version = version
        self.embedded = 0

    @property
    def embedding_version(self) -> str:
        return self._version

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32] | Unavailable:
        if not self.version:
            return Unavailable(reason=Reason.OFF, detail="local models are switched off")
        self._version = self.version
        self.embedded += len(texts)
        return np.stack([self._vector(text) for text in texts]).astype(np.float32)

    def _vector(self, text: str) -> NDArray[np.float64]:
        found = np.zeros(DIMENSIONS)
        for word in text.casefold().split():
            digest = blake2b(f"{self.version} {word}".encode(), digest_size=4).digest()
            found[int.from_bytes(digest) % DIMENSIONS] += 1
        length = np.linalg.norm(found)
        return found / length if length else found
