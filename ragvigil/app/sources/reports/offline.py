"""The API's comparison of golden sets with live traffic."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict
from datetime import datetime

from clustering.topics.map import gaps as topic_gaps
from ragvigil.evaluation.live.gap import Gap, gaps
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import topics
from ragvigil.store.reports import offline_scores
from ragvigil.store.reports.offline_scores import OfflineRun
from ragvigil.web.views.reports.evaluations import (
    EvaluationForm,
    GapForm,
    OnlineForm,
    UncoveredForm,
)
from ragvigil.web.views.values import view

MOST_NAMED = 3
"""Gaps, and topics, that the sentences name."""


class Offline:
    """The API's `ComparisonSource`; `gap_share` is the share from which a topic needs a case."""

    def __init__(self, store: Store, gap_share: float) -> None:
        self._store, self._gap_share = store, gap_share

    def beside_live(self, run: OfflineRun, since: datetime) -> OnlineForm:
        """The run beside live answers since a time. Raises StoreError."""
        sums = offline_scores.offline(self._store, run.run_id)
        services = {each.service for each in sums} - {""}
        rubrics = {each.rubric for each in sums}
        seconds = int(since.timestamp())
        live = (
            offline_scores.live(self._store, seconds, run.release, services, rubrics)
            if services
            else []
        )
        found, uncovered = gaps(sums, live), list(self._uncovered(services))
        return OnlineForm(
            evaluation=view(EvaluationForm, run),
            since=since,
            gaps=[
                view(GapForm, gap, offline=asdict(gap.offline), live=asdict(gap.live))
                for gap in found
            ],
            uncovered=uncovered,
            sentences=_sentences(run, services, found, uncovered),
        )

    def _uncovered(self, services: Collection[str]) -> Iterator[UncoveredForm]:
        """The large topics of these services without a golden case."""
        for topic_map in topics.newest(self._store):
            if topic_map.service not in services:
                continue
            for topic in topic_gaps(topic_map, self._gap_share):
                yield UncoveredForm(
                    service=topic_map.service,
                    environment=topic_map.environment,
                    topic_id=topic.topic_id,
                    name=topic.name,
                    share=topic.questions / topic_map.questions,
                )


def _sentences(
    run: OfflineRun,
    services: Collection[str],
    found: Sequence[Gap],
    uncovered: Sequence[UncoveredForm],
) -> list[str]:
    if not services:
        return ["Its cases name no service: nothing live can stand beside them."]
    of_release = f"of {run.release}" if run.release else "of any release"
    if not found:
        return [f"Too few live answers {of_release}, or too few cases a route, to compare."]
    apart = [gap for gap in found if gap.is_apart]
    if not apart:
        said = f"Set and live traffic {of_release} agree in {len(found)} means."
    else:
        said = "The set is not what users ask: " + "; ".join(
            f"{gap.rubric}{f' on {gap.route}' if gap.route else ''} is {gap.offline.mean:.2f} on "
            f"the set and {gap.live.mean:.2f} live {of_release}, {gap.gap:+.2f} "
            f"({gap.low:+.2f} to {gap.high:+.2f})"
            for gap in apart[:MOST_NAMED]
        )
    if not uncovered:
        return [said]
    largest = sorted(uncovered, key=lambda topic: -topic.share)[:MOST_NAMED]
    named = ", ".join(f"{topic.name} ({topic.share:.0%})" for topic in largest)
    return [said, f"It lacks {len(uncovered)} large topics, the largest of them: {named}."]
