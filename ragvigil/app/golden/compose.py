"""Composes the golden set's job from redaction, local vectors and the judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

import structlog

from clustering.golden.check import TextTools
from clustering.golden.near_duplicates import Embed
from ragvigil.app.golden.job import GoldenJob
from ragvigil.app.golden.run import Judge, Trial
from ragvigil.app.settings import Settings
from ragvigil.inference.outcome import Unavailable
from ragvigil.inference.process import Inference
from ragvigil.llm.outcome import Purpose
from ragvigil.model.clock import Clock
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from ragvigil.store.engine.store import Store
from scorers.golden import question_key
from scorers.judge.job import JudgeJob
from scorers.runner import Runner

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

log = structlog.get_logger()

JUDGED = ("completeness", "groundedness", "answer_relevance")
"""The rubrics by which a judge grades a fresh answer to a case."""


def golden_job(
    settings: Settings,
    store: Store,
    runner: Runner,
    judging: JudgeJob,
    inference: Inference,
    clock: Clock,
) -> GoldenJob:
    """The job with its parts; logs where the questions of cases are sent."""
    if settings.golden.target.url:
        log.info(
            "golden cases: their questions leave for the target", url=settings.golden.target.url
        )
    known = TextTools(normalise=question_key, redact=_marking(settings), embed=embedding(inference))
    trial = Trial(
        store=store, target=settings.golden.target, runner=runner, judge=_judging(judging)
    )
    return GoldenJob(store, settings.golden, known, trial, clock)


def _marking(settings: Settings) -> Callable[[str, Counter[str]], str]:
    @cache
    def redact() -> Callable[[bytes, Counter[str]], bytes]:
        # Its automaton takes a tenth of a second and 24 MB: only where a case is written.
        from collector.redaction.redact import Redactor, installation_key

        key = installation_key(settings.data_dir)
        return Redactor(settings.collector.redact, key=key).redact_text

    def marked(text: str, counts: Counter[str]) -> str:
        return redact()(text.encode("utf-8", "replace"), counts).decode("utf-8", "replace")

    return marked


def embedding(inference: Inference) -> Embed:
    """Vectors of texts; None where local models do not run."""

    def embed(texts: Sequence[str]) -> NDArray[np.float32] | None:
        vectors = inference.embed(texts)
        return None if isinstance(vectors, Unavailable) else vectors

    return embed


def _judging(judging: JudgeJob) -> Judge:
    def judge(record: RagRecord) -> Sequence[Score]:
        scores = judging.judge_now([record], Purpose.AUDIT, JUDGED)
        return scores[0] if scores else ()

    return judge
