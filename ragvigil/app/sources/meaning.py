"""The vector of what a person looks for, by the local model."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from ragvigil.inference.outcome import Unavailable
from ragvigil.inference.process import Inference
from ragvigil.store.records.nearest import QueryVector

PATIENCE_SECONDS = 2.0
"""A model that runs takes 0.02 s; one that is loaded takes 10, and is there the next time."""


class Meaning:
    """The API's `MeaningSource`; safe from any thread."""

    def __init__(self, inference: Inference) -> None:
        self._inference = inference
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="meaning")

    def vector(self, text: str) -> QueryVector | str:
        """The vector of a text, or why there is none; waits for two seconds at most."""
        call = self._thread.submit(self._inference.embed, [text])
        try:
            found = call.result(PATIENCE_SECONDS)
        except TimeoutError:
            call.cancel()  # if it waits behind another one that loads the model
            return "the local model is still busy or being loaded; try again in a moment"
        if isinstance(found, Unavailable):
            return str(found)
        (values,) = found.tolist()
        if not any(values):
            return "the local model knows no word of this"
        return QueryVector(model=self._inference.embedding_version, values=values)
