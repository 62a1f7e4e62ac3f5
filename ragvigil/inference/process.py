"""Local models for the rest of the daemon: texts in, numbers or a reason out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, TypeVar

import structlog

from ragvigil.inference.blame import BLAMED, Blame
from ragvigil.inference.cache import VectorCache, text_hash
from ragvigil.inference.keeper import Answer, Keeper
from ragvigil.inference.metrics import CACHE_HITS, GIVEN_UP, SHED, UNAVAILABLE
from ragvigil.inference.outcome import Reason, Unavailable
from ragvigil.inference.settings import SHORT_NAMES, InferenceSettings
from ragvigil.inference.share import CpuShare
from ragvigil.inference.weights import ModelFile, NoModel, checked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float32]

log = structlog.get_logger()

BATCH = 8
"""Texts in one request: more take more memory and no less time on a CPU, and delay others."""
MOST_CHARACTERS = 1 << 17
"""The most that is sent of a text: more than models of 32,000 tokens read."""

Item = TypeVar("Item")


class Inference:
    """One child process that runs the local models; safe to call from any number of threads.

    The child starts when it is first needed, and again after it ended, with growing pauses. Calls
    block, so an event loop makes them in a thread. `clock` must not run backwards.
    """

    def __init__(
        self, settings: InferenceSettings, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._share = CpuShare(settings.cpu_share, now=clock())
        self._keeper = Keeper(settings, self._share, clock)
        self._cache = VectorCache(settings.cache_entries)
        self._judged_pairs = VectorCache(settings.cache_entries)
        self._blame = Blame()
        self._version, self._width = "", 0

    @property
    def embedding_name(self) -> str:
        """A short name of the model that `embed` uses, for pages."""
        model = self._settings.embedding_model
        return SHORT_NAMES.get(model) or PurePath(model).name

    @property
    def embedding_version(self) -> str:
        """Version of the model that `embed` last used: a hash of its files, else its commit."""
        return self._version

    @property
    def child_pid(self) -> int | None:
        """Process id of the child; None if none runs."""
        return self._keeper.child_pid

    def has_time(self) -> bool:
        """Whether optional work fits into the share of the CPU; a False is counted as shed."""
        may_run = self._share.may_run(self._clock())
        if not may_run:
            SHED.inc()
        return may_run

    def forget(self) -> None:
        """Drops what is kept in memory of texts: vectors, and the results of pairs."""
        self._cache.clear()
        self._judged_pairs.clear()

    def embed(self, texts: Sequence[str]) -> Numbers | Unavailable:
        """A vector of length 1 for each text, in order: shape (texts, dimensions).

        A text without a token that the model knows has a row of zeros, and so has a text on which
        the model fails whenever it is asked. The model cuts long texts (the default after 256
        tokens).
        """
        if (refused := self._refused(self._settings.embedding_model)) is not None:
            return refused
        texts = [_readable(text) for text in texts]
        keys = [text_hash(text) for text in texts]
        vectors = self._cache.find(keys)
        CACHE_HITS.inc(sum(key in vectors for key in keys))
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        # By length: a batch is padded to its longest text.
        by_length = sorted(new, key=lambda key: len(new[key]))
        for batch in self._blame.batches(by_length, BATCH):
            model = self._settings.embedding_model
            answer = self._asked("embed", model, batch, [new[key] for key in batch])
            if isinstance(answer, Unavailable):
                return answer
            if self._has_changed(answer.version):
                # Vectors of two models cannot be compared: all are computed by the new one.
                return self.embed(texts)
            self._width = answer.width
            computed = dict(zip(batch, _rows(answer), strict=True))
            vectors |= computed
            self._cache.keep(computed)
        if self._width == 0 and keys:
            detail = "the model failed on each of these texts"
            return _counted(Unavailable(reason=Reason.FAILED, detail=detail))
        unknown = bytes(4 * self._width)
        return _table([vectors.get(key, unknown) for key in keys])

    def classify(self, pairs: Sequence[tuple[str, str]]) -> Numbers | Unavailable:
        """The cross-encoder's scores of each pair: shape (pairs, labels), values in 0..1."""
        if (refused := self._refused(self._settings.cross_encoder)) is not None:
            return refused
        rows: list[bytes] = []
        pairs = [(_readable(first), _readable(second)) for first, second in pairs]
        for batch in _batches(pairs):
            answer = self._ask("classify", self._settings.cross_encoder, batch)
            if isinstance(answer, Unavailable):
                return answer
            rows += _rows(answer)
        return _table(rows)

    def entail(self, file: ModelFile, pairs: Sequence[tuple[str, str]]) -> Numbers | Unavailable:
        """Of each premise and sentence, the probabilities of a shipped entailment model.

        Shape (pairs, 3): that the premise supports the sentence, does not, or denies it. A pair on
        which the model fails whenever it is asked has a row of zeros.
        """
        if not self._settings.enabled:
            return _counted(Unavailable(reason=Reason.OFF, detail="local models are switched off"))
        try:
            place = checked(file)
        except NoModel as error:
            return _counted(Unavailable(reason=Reason.NO_MODEL, detail=str(error)))
        pairs = [(_readable(premise), _readable(sentence)) for premise, sentence in pairs]
        keys = [text_hash(f"{file.sha256}\0{premise}\0{sentence}") for premise, sentence in pairs]
        rows = self._judged_pairs.find(keys)
        CACHE_HITS.inc(sum(key in rows for key in keys))
        new = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in rows}
        for batch in self._blame.batches(list(new), BATCH):
            answer = self._asked("entail", place, batch, [new[key] for key in batch])
            if isinstance(answer, Unavailable):
                return answer
            computed = dict(zip(batch, _rows(answer), strict=True))
            rows |= computed
            self._judged_pairs.keep(computed)
        return _table([rows.get(key, bytes(4 * 3)) for key in keys])

    def rest(self) -> None:
        """Ends the child once no call is under way; the next call starts another."""
        self._keeper.rest()

    def close(self) -> None:
        """Ends the child, even in the middle of a call; every later call returns CLOSED."""
        self._keeper.close()

    def _refused(self, model: str) -> Unavailable | None:
        if not self._settings.enabled:
            return _counted(Unavailable(reason=Reason.OFF, detail="local models are switched off"))
        if not model:
            return _counted(Unavailable(reason=Reason.OFF, detail="no local model is set for this"))
        return None

    def _asked(
        self, task: str, model: str, keys: Sequence[bytes], texts: Sequence[object]
    ) -> Answer | Unavailable:
        """The answer; of a request that failed, its texts are suspected."""
        answer = self._ask(task, model, texts)
        if isinstance(answer, Answer):
            self._blame.answered(keys)
        elif answer.reason in BLAMED:
            for key in self._blame.failed(keys):
                GIVEN_UP.inc()
                log.error(
                    "a text is not given to the model any more",
                    task=task,
                    text=key.hex(),
                    reason=str(answer),
                )
        return answer

    def _ask(self, task: str, model: str, texts: Sequence[object]) -> Answer | Unavailable:
        answer = self._keeper.ask(task, model, texts)
        return _counted(answer) if isinstance(answer, Unavailable) else answer

    def _has_changed(self, version: str) -> bool:
        """Whether the model's version has changed; then the cache is cleared."""
        before, self._version = self._version, version
        if before in ("", version):
            return False
        self._cache.clear()
        return True


def _counted(unavailable: Unavailable) -> Unavailable:
    UNAVAILABLE.labels(unavailable.reason).inc()
    return unavailable


def _readable(text: str) -> str:
    """The text as a model can read it: cut, and without halves of surrogate pairs."""
    return text[:MOST_CHARACTERS].encode("utf-8", "replace").decode()


def _batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[start : start + BATCH] for start in range(0, len(items), BATCH))


def _rows(answer: Answer) -> list[bytes]:
    step = answer.width * 4
    return [answer.body[start : start + step] for start in range(0, len(answer.body), step)]


def _table(rows: Sequence[bytes]) -> Numbers:
    import numpy as np

    numbers = np.frombuffer(b"".join(rows), "<f4").astype(np.float32)
    return numbers.reshape(len(rows), len(rows[0]) // 4 if rows else 0)
