"""The report on releases: from sums to figures with intervals."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime

from ragvigil.evaluation.live.release import Figure, money_mean, score_mean, share, tail
from ragvigil.store.reports.releases import ReleaseSums, Sums
from ragvigil.web.views.reports.releases import FigureForm, ReleaseForm


def release_form(row: ReleaseSums, name: str) -> ReleaseForm:
    """A row with its figures; `name` is what its slice is called."""
    return ReleaseForm(
        service=row.service,
        environment=row.environment,
        version=row.version,
        dimension=row.dimension,
        value=row.value,
        name=name,
        first_seen=datetime.fromtimestamp(row.first_seen, UTC),
        last_seen=datetime.fromtimestamp(row.last_seen, UTC),
        answers=row.answers,
        context_recall=_mean(row.context_recall),
        groundedness=_mean(row.groundedness),
        answer_relevance=_mean(row.answer_relevance),
        refusal=_form(share(row.refused, row.refusal_n)),
        p95_seconds=_form(tail(row.latencies)),
        cost_usd=_form(money_mean(**asdict(row.cost))),
    )


def _mean(sums: Sums) -> FigureForm | None:
    return _form(score_mean(**asdict(sums)))


def _form(figure: Figure | None) -> FigureForm | None:
    return None if figure is None else FigureForm(**asdict(figure))
