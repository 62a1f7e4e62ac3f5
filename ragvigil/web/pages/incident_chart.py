"""The chart of an incident: the rubric that it is about, around its onset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ragvigil.store.scores.series_bins import SeriesFilter
from ragvigil.web.drawings.series import Event, Series
from ragvigil.web.rubric_names import base_of
from ragvigil.web.views.changes import ChangeForm
from ragvigil.web.views.route.charts import chart
from ragvigil.web.views.route.story import RubricStory
from ragvigil.web.views.series import lines_of, newest_segments
from ragvigil.web.views.triage.now_form import OpenIncidentForm
from ragvigil.web.views.triage.sentences import main_finding

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

CHART, LEAD = timedelta(hours=6), timedelta(hours=2)
"""The time that a chart shows at least, and how long before the onset it begins."""
MOST_CHART = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnChart:
    """A chart with what it shows, and the changes that are marked in it.

    `is_beside` says that the headline is about another rubric, which has too few scores for a line.
    """

    name: str
    is_beside: bool
    chart: Series
    changes: Sequence[ChangeForm]


def drawn_chart(
    store: Store,
    opened: OpenIncidentForm,
    changes: Sequence[ChangeForm],
    until: datetime,
    events: Sequence[Event] = (),
) -> DrawnChart | None:
    """The rubric that an incident is about; None where it has no mean, or no route of its own."""
    if not opened.rubric or not opened.route:
        return None
    incident = opened.incident
    times = (incident.since, opened.change and opened.change.time, until)
    onset = min(time for time in times if time)
    since = max(min(until - CHART, onset - LEAD), until - MOST_CHART)
    filter_ = SeriesFilter(
        service=incident.service,
        environment=incident.environment,
        route=opened.route,
        rubrics=(opened.rubric,),
    )
    found = newest_segments(lines_of(store, filter_, since, until))
    if not found or not found[0].points:
        return None
    # A cell's onset is the beginning of an hour; the incident knows the minute.
    cell = opened.cell and opened.cell.model_copy(update={"since": incident.since})
    story = RubricStory(rubric=opened.rubric, layer=found[0].layer, series=found[0], cell=cell)
    marked = [
        change
        for change in changes
        if since <= change.time <= until and (not change.routes or opened.route in change.routes)
    ]
    headline = main_finding(incident)
    return DrawnChart(
        name=story.name,
        is_beside=headline is not None and base_of(headline.signal) != opened.rubric,
        chart=chart(story, marked, since, until, is_zoomed=False, events=events),
        changes=marked,
    )
