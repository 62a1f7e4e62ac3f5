"""Embeds failing records through the model process, as far as it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from clustering.failures.masking import with_label
from ragvigil.inference.outcome import Unavailable

if TYPE_CHECKING:
    from clustering.grouping.vectors import Vectors
    from ragvigil.inference.process import Inference
    from ragvigil.store.issues.failing_rows import KeptFailure

TEXTS = "labelled"
"""What is embedded, part of the vectors' version: vectors of other texts are made again."""
AT_ONCE = 64
"""Records in a request to the model process; others wait for it, a fraction of a second."""


class FailureEmbedder:
    """Adds vectors to failing records. `why` is the reason that some got none, empty if all did."""

    def __init__(self, inference: Inference) -> None:
        self._inference = inference
        self.why = ""

    @property
    def model(self) -> str:
        """The version of the model and of the embedded texts; empty before the first embedding."""
        version = self._inference.embedding_version
        return f"{version} {TEXTS}" if version else ""

    def fill(self, kept: Sequence[KeptFailure]) -> list[KeptFailure]:
        """Embeds records in order; those that got vectors. Stops where the model fails."""
        self.why = ""
        filled: list[KeptFailure] = []
        for start in range(0, len(kept), AT_ONCE):
            several = kept[start : start + AT_ONCE]
            vectors = self._embedded(
                [with_label(record.masked, record.failure.label) for record in several]
            )
            texts = [record.failure.question or "" for record in several]
            questions = None if vectors is None else self._embedded(texts)
            if vectors is None or questions is None:
                break
            filled += [
                replace(
                    record,
                    reason_vector=reason.tobytes(),
                    question_vector=question.tobytes() if record.failure.question else b"",
                    vector_model=self.model,
                )
                for record, reason, question in zip(several, vectors, questions, strict=True)
            ]
        return filled

    def _embedded(self, texts: Sequence[str]) -> Vectors | None:
        vectors = self._inference.embed(texts)
        if isinstance(vectors, Unavailable):
            self.why = str(vectors)
            return None
        return vectors


def joint_vectors(kept: Sequence[KeptFailure]) -> Vectors:
    """Joint vectors (n, 2d) of records whose own vectors (d) are all of one model."""
    import numpy as np

    from clustering.grouping.vectors import joint

    reasons = np.stack([np.frombuffer(record.reason_vector, np.float32) for record in kept])
    nothing = np.zeros_like(reasons[0])
    questions = [np.frombuffer(record.question_vector, np.float32) for record in kept]
    return joint(
        reasons, np.stack([question if len(question) else nothing for question in questions])
    )
