"""The signals of the watch: the rates and numbers that are followed, and their words. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from alerts.signals.settings import BrokenSettings, MovedSettings
from ragvigil.model.finding import Finding, FindingKind, goes_beyond
from ragvigil.model.identity import identity
from ragvigil.model.notice import Cause
from ragvigil.model.score import Layer
from ragvigil.model.signal import ERROR, SLOW, UNSUPPORTED, USUAL_SHARE, SignalChoice

NONE_RELEVANT = "context_relevance:none_relevant"
"""Given by a local model, to every answer that it reads."""
WITH_TEXT, WITH_CHUNKS = "answer_complete_text:empty", "injected_context:failed"
"""Given to every answer whose text, and to every one whose chunks are seen."""
OWN_LIMIT = "limit-"
"""How ids of findings of `[[alerts.limits]]` begin: other detectors leave these alone."""
OF_SLICE = "slice-"
"""How ids of findings of slices begin, and then name the slice."""
POOL = "*"
"""In place of a route: all routes of a service together."""

Accepted = Mapping[tuple[str, str, str, str], float]
"""Levels that are expected, by (service, environment, signal, route); POOL for all routes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A share of requests with an absolute ceiling.

    `setting` is its key in `[alerts.broken]`; `words` say what the requests do. Not every answer is
    rated: one without a citation cites nothing wrong. `among` are the rates of all answers that
    could be.
    """

    signal: str
    setting: str
    words: str
    layer: Layer
    causes: tuple[Cause, ...] = ()
    among: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number that is compared with its own past.

    `is_logged` compares logarithms: for positive numbers with a long tail. `is_anchored` is false
    where the zero is arbitrary, so that a change in percent has no meaning. `is_graded` says that a
    local model gives it: its grades lie where the model puts them, crowded at one end, say. Grades
    and what `is_share` lie between 0 and 1. `allowed` is over 0 for the share of answers with a
    label: its bar is set by a route's healthy answers, of which at most so many have it.
    """

    signal: str
    words: str
    unit: str
    layer: Layer = Layer.CROSS_CUTTING
    causes: tuple[Cause, ...] = ()
    is_logged: bool = False
    is_anchored: bool = True
    is_graded: bool = False
    is_share: bool = False
    allowed: float = 0.0

    def is_bounded(self, *, is_fall: bool) -> bool:
        """Whether a value can lie only so far from the mean on this side: a count is at least 0."""
        is_count = self.is_anchored and not self.is_logged
        return self.is_share or self.is_graded or (is_count and is_fall)


RATES = (
    Rate(
        signal="retrieval_shape:empty",
        setting="empty_retrieval",
        words="retrievals return nothing",
        layer=Layer.RETRIEVAL,
        causes=(Cause.RETRIEVAL, Cause.CORPUS),
    ),
    Rate(signal=ERROR, setting="errors", words="requests fail", layer=Layer.CROSS_CUTTING),
    Rate(
        signal="citation_validity:failed",
        setting="invalid_citations",
        words="answers cite what is not there",
        layer=Layer.CROSS_CUTTING,
        causes=(Cause.GENERATION,),
        among=(WITH_TEXT, WITH_CHUNKS),
    ),
    Rate(
        signal="refusal:refused",
        setting="refusals",
        words="answers refuse",
        layer=Layer.GENERATION,
        causes=(Cause.RETRIEVAL, Cause.GENERATION, Cause.CORPUS),
    ),
    Rate(
        signal="answer_complete_text:truncated",
        setting="truncation",
        words="answers are cut off",
        layer=Layer.GENERATION,
        causes=(Cause.GENERATION,),
    ),
    Rate(
        signal=WITH_TEXT,
        setting="empty_answers",
        words="answers have no text",
        layer=Layer.GENERATION,
        causes=(Cause.GENERATION,),
    ),
    Rate(
        signal="answer_language:failed",
        setting="other_language",
        words="answers are in another language than their question",
        layer=Layer.GENERATION,
        causes=(Cause.GENERATION,),
        among=(WITH_TEXT,),
    ),
    Rate(
        signal=NONE_RELEVANT,
        setting="nothing_relevant",
        words="answers have nothing relevant in their context",
        layer=Layer.RETRIEVAL,
        causes=(Cause.RETRIEVAL, Cause.CORPUS),
    ),
    Rate(
        signal=WITH_CHUNKS,
        setting="injected_context",
        words="retrievals hold instructions to the model",
        layer=Layer.CROSS_CUTTING,
        causes=(Cause.CORPUS,),
    ),
    Rate(
        signal=SLOW,
        setting="slow",
        words="requests take longer than {seconds:g} s",
        layer=Layer.CROSS_CUTTING,
    ),
)
BY_SIGNAL = {rate.signal: rate for rate in RATES}

_RETRIEVED = (Cause.RETRIEVAL, Cause.CORPUS)
_NUMBERS = (
    Number(
        signal="chunk_utilization",
        words="the share of the context that answers use",
        unit="answers",
        layer=Layer.RETRIEVAL,
        causes=(Cause.RETRIEVAL, Cause.GENERATION, Cause.CORPUS),
        is_share=True,
    ),
    Number(
        signal="citation_coverage",
        words="the share of claims with a citation",
        unit="answers",
        layer=Layer.GENERATION,
        causes=(Cause.GENERATION,),
        is_share=True,
    ),
    Number(
        signal="citations",
        words="citations per answer",
        unit="answers",
        layer=Layer.GENERATION,
        causes=(Cause.GENERATION,),
    ),
    Number(
        signal="answer_words",
        words="words of a typical answer",
        unit="answers",
        layer=Layer.GENERATION,
        causes=(Cause.GENERATION,),
        is_logged=True,
    ),
    Number(
        signal="context_tokens",
        words="tokens of a typical context",
        unit="requests",
        layer=Layer.RETRIEVAL,
        causes=_RETRIEVED,
        is_logged=True,
    ),
    Number(
        signal="context_chunks",
        words="chunks per context",
        unit="requests",
        layer=Layer.RETRIEVAL,
        causes=(Cause.RETRIEVAL,),
    ),
    Number(
        signal="context_order",
        words="the share of a context that stands in the order of its scores",
        unit="requests",
        layer=Layer.RETRIEVAL,
        causes=(Cause.RETRIEVAL,),
        is_share=True,
    ),
    Number(
        signal="chunk_characters",
        words="characters of a typical chunk",
        unit="requests",
        layer=Layer.RETRIEVAL,
        causes=_RETRIEVED,
        is_logged=True,
    ),
    Number(
        signal="top_score",
        words="the retriever's best score",
        unit="requests",
        layer=Layer.RETRIEVAL,
        causes=_RETRIEVED,
        is_anchored=False,
    ),
    Number(
        signal="score_gap",
        words="the gap between best and last retrieval score",
        unit="requests",
        layer=Layer.RETRIEVAL,
        causes=_RETRIEVED,
        is_anchored=False,
    ),
    Number(
        signal="groundedness",
        words="groundedness by the local model",
        unit="answers",
        layer=Layer.GENERATION,
        causes=(Cause.GENERATION, Cause.RETRIEVAL),
        is_anchored=False,
        is_graded=True,
    ),
    Number(
        signal=UNSUPPORTED,
        words="the share of answers that the local model finds unsupported",
        unit="answers",
        layer=Layer.GENERATION,
        causes=(Cause.GENERATION, Cause.RETRIEVAL),
        is_anchored=False,
        is_share=True,
        allowed=USUAL_SHARE,
    ),
    Number(
        signal="context_relevance",
        words="relevance of the context by the local model",
        unit="requests",
        layer=Layer.RETRIEVAL,
        causes=_RETRIEVED,
        is_anchored=False,
        is_graded=True,
    ),
    Number(
        signal="answer_relevance",
        words="relevance of the answers by the local model",
        unit="answers",
        layer=Layer.GENERATION,
        causes=(Cause.GENERATION,),
        is_anchored=False,
        is_graded=True,
    ),
    Number(
        signal="seconds_total",
        words="seconds of a typical request",
        unit="requests",
        is_logged=True,
    ),
    Number(
        signal="cost_usd", words="dollars of a typical request", unit="requests", is_logged=True
    ),
)
NUMBERS = {number.signal: number for number in _NUMBERS}


def number(signal: str) -> Number:
    """The catalogue's entry of a numeric signal; a plain number without one."""
    return NUMBERS.get(signal) or Number(signal=signal, words=signal, unit="requests")


def signal_choice(broken: BrokenSettings, moved: MovedSettings) -> SignalChoice:
    """What the store sums for all signals."""
    return SignalChoice(
        rates=[rate.signal for rate in RATES if rate.signal not in (ERROR, SLOW, NONE_RELEVANT)],
        local_rates=[NONE_RELEVANT],
        rubrics=moved.rubrics,
        local=(*moved.local_rubrics, *_labels_of(moved.local_rubrics)),
        measures=moved.measures,
        logged=[name for name in moved.measures if number(name).is_logged],
        slow_seconds=broken.latency_seconds,
        slow_routes={
            route: ceilings.latency_seconds
            for route, ceilings in broken.routes.items()
            if ceilings.latency_seconds is not None
        },
    )


def _labels_of(rubrics: Collection[str]) -> list[str]:
    """The labels of these rubrics whose share is followed."""
    labels = [one.signal for one in _NUMBERS if one.allowed]
    return [label for label in labels if label.partition(":")[0] in rubrics]


def scope_of(routes: tuple[str, ...]) -> str:
    """The route of a finding, POOL if it has several; the last part of a key of `Accepted`."""
    return routes[0] if len(routes) == 1 else POOL


def accepted_key(finding: Finding) -> tuple[str, str, str, str]:
    """The key of `Accepted` for the level of this finding: that of a slice is of it alone."""
    place, scope = (finding.service, finding.environment), scope_of(finding.routes)
    if finding.finding_id.startswith(OF_SLICE):
        scope = finding.finding_id.rpartition("-")[0]
    return (*place, finding.signal, scope)


def is_expected(finding: Finding, accepted: Accepted) -> bool:
    """Whether a value goes no further than a level that somebody accepted."""
    level = accepted.get(accepted_key(finding))
    return level is not None and not goes_beyond(finding, level)


def finding_id(
    kind: FindingKind, service: str, environment: str, signal: str, scope: str, onset: int
) -> str:
    """A stable id: same onset minute (its start, seconds), same id."""
    return identity(kind, service, environment, signal, scope, onset)
