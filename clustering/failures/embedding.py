"""Vectors of failing records: by the model process, as far as it answers."""

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
"""What is embedded. Vectors of other texts are as those of another model: they are made anew."""
AT_ONCE = 64
"""Records whose texts are embedded together: a fraction of a second, in which others wait."""


class FailureEmbedder:
    """Gives failing records their vectors. `why` says why some have none, empty where all have."""

    def __init__(self, inference: Inference) -> None:
        self._inference = inference
        self.why = ""

    @property
    def model(self) -> str:
        """The version of the model and of its texts, empty before it was first used."""
        version = self._inference.embedding_version
        return f"{version} {TEXTS}" if version else ""

    def fill(self, kept: Sequence[KeptFailure]) -> list[KeptFailure]:
        """Those of the records, in their order, that got vectors of the present model."""
        self.why = ""
        filled: list[KeptFailure] = []
        for start in range(0, len(kept), AT_ONCE):
            several = kept[start : start + AT_ONCE]
            vectors = self._embedded(
                [with_label(record.masked, record.failure.label) for record in several]
            )
            asked = [record.failure.question or "" for record in several]
            questions = None if vectors is None else self._embedded(asked)
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
        found = self._inference.embed(texts)
        if isinstance(found, Unavailable):
            self.why = str(found)
            return None
        return found


def joint_vectors(kept: Sequence[KeptFailure]) -> Vectors:
    """Joint vectors (n, 2d) of records that have theirs, all of one model."""
    import numpy as np

    from clustering.grouping.vectors import joint

    reasons = np.stack([np.frombuffer(record.reason_vector, np.float32) for record in kept])
    nothing = np.zeros_like(reasons[0])
    questions = [np.frombuffer(record.question_vector, np.float32) for record in kept]
    return joint(
        reasons, np.stack([question if len(question) else nothing for question in questions])
    )
