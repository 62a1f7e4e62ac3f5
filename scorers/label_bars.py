"""Gives a local model's score its label by the bar of its route, as the route's own past set it.

    >>> score = Score(rubric="groundedness", value=0.4, label="unsupported", kind=Kind.MODEL)
    >>> record = RagRecord(record_id="1", trace_id="1", service="desk", route="/ask")
    >>> fixed = LabelBars(fixed={"groundedness": 0.31}).labelled(score, record, 0)
    >>> fixed.label, fixed.details
    ('', {'bar': {'below': 0.31, 'of': 'setting'}})
    >>> LabelBars().labelled(score, record, 0).details
    {'bar': {'below': 0.5, 'of': 'shipped'}}

A bar that is shipped was set on other people's texts: by it the label was on 5 to 53 % of the bad
answers of a set. One that is learned lies under all but 5 % of the answers that this route gave
while it had no incident, so it says how many labels are false. A bar is for the value; the shipped
one is for each sentence. `none_relevant` is no such label: it says that nothing is about the
question, and its rate has a ceiling of its own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, lru_cache
from operator import attrgetter

from ragvigil.model.record import RagRecord
from ragvigil.model.score import Kind, Score
from ragvigil.model.signal import USUAL_SHARE
from ragvigil.store.records.record_rows import RubricFacts, segment
from ragvigil.store.scores.label_bars import LabelBar
from scorers.grounding.entailment import CONTRADICTED, UNSUPPORTED, WEAK
from scorers.grounding.model import shipped_model
from scorers.rubric import house_rubrics

NANOS = 10**9
LABELS = {
    "groundedness": "unsupported",
    "sentence_support": "unsupported",
    "contradiction": "contradicted",
    "citation_support": "weak_support",
}
"""By rubric, the label that a local model's score has under its bar."""
OF_EVERY_ANSWER = frozenset({"groundedness"})
"""Those that are given as soon as a trace closes; the others come later, of a sample."""
KEPT = 3
"""Bars of a series, of as many days: spans that come a day late still find theirs."""
Series = tuple[str, str, str, str, str]
"""Service, environment, route (empty for all), rubric, segment."""
_since = attrgetter("holds_from_unix_nano")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelBars:
    """The bars of all routes; pure, and cheap to hand to another process.

    `fixed` are a person's, by rubric; they win. `learned` are those of a series, the oldest first.
    """

    fixed: Mapping[str, float] = field(default_factory=dict)
    learned: Mapping[Series, Sequence[LabelBar]] = field(default_factory=dict)

    def label(
        self, scores: Sequence[Score], record: RagRecord, time_unix_nano: int
    ) -> tuple[Score, ...]:
        """The scores of an answer of this time, those that have a bar with label and bar."""
        return tuple(
            self.labelled(score, record, time_unix_nano) if score.rubric in LABELS else score
            for score in scores
        )

    def of(self, rubrics: Collection[str]) -> LabelBars:
        """Those of some rubrics."""
        learned = {series: bars for series, bars in self.learned.items() if series[3] in rubrics}
        return LabelBars(fixed=self.fixed, learned=learned)

    def labelled(self, score: Score, record: RagRecord, time_unix_nano: int) -> Score:
        """The score of an answer of this time with its label, and with its bar in the details.

        Other scores than those of LABELS by a local model are returned as they are.
        """
        label = LABELS.get(score.rubric)
        if label is None or score.kind is not Kind.MODEL or score.value is None:
            return score
        below = self.fixed.get(score.rubric)
        if below is not None:
            bar: Mapping[str, object] = {"below": below, "of": "setting"}
        elif (learned := self._learned(score, record, time_unix_nano)) is not None:
            below, bar = learned.below, _details(learned)
        else:
            return replace(score, details={**score.details, "bar": _shipped(score.rubric)})
        is_under = score.value < below
        return replace(
            score, label=label if is_under else "", details={**score.details, "bar": bar}
        )

    def _learned(self, score: Score, record: RagRecord, time_unix_nano: int) -> LabelBar | None:
        """The newest bar of the route that holds then, else of the service."""
        if not self.learned:
            return None
        own = _segment(score.rubric, score.scorer, score.version)
        for route in (record.route, ""):
            bars = self.learned.get((record.service, record.environment, route, score.rubric, own))
            place = bisect_right(bars, time_unix_nano, key=_since) if bars else 0
            if bars and place:
                return bars[place - 1]
        return None


def by_series(bars: Iterable[LabelBar]) -> dict[Series, list[LabelBar]]:
    """The newest KEPT bars of each series, the oldest first, as they must come."""
    result: dict[Series, list[LabelBar]] = defaultdict(list)
    for bar in bars:
        result[bar.service, bar.environment, bar.route, bar.rubric, bar.segment].append(bar)
    return {series: found[-KEPT:] for series, found in result.items()}


@cache
def _segment(rubric: str, scorer: str, version: str) -> str:
    """The versions that a bar is of: another model puts its numbers elsewhere."""
    facts = RubricFacts(version=house_rubrics()[rubric].version)
    return segment(facts, Score(rubric=rubric, scorer=scorer, version=version))


@lru_cache(maxsize=1024)
def _details(bar: LabelBar) -> Mapping[str, object]:
    holds_from = datetime.fromtimestamp(bar.holds_from_unix_nano // NANOS, UTC)
    return {
        "below": bar.below,
        "of": "route" if bar.route else "service",
        "share": USUAL_SHARE,
        "answers": bar.answers,
        "version": f"{holds_from:%Y-%m-%dT%HZ}",
    }


@cache
def _shipped(rubric: str) -> Mapping[str, object]:
    below = {
        "groundedness": shipped_model().threshold,
        "sentence_support": UNSUPPORTED,
        "contradiction": CONTRADICTED,
        "citation_support": WEAK,
    }[rubric]
    return {"below": below, "of": "shipped"}
