"""The drawing of a rubric of a route, from its series."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from ragvigil.model.figures import between, counted, in_points, score
from ragvigil.web.drawings import series as drawing
from ragvigil.web.views.changes import ChangeForm
from ragvigil.web.views.route.story import RubricStory
from ragvigil.web.views.series import PointForm, SeriesForm

GAP_BINS = 4
"""A line has a gap where more bins than so many have no score."""


def chart(
    story: RubricStory,
    changes: Sequence[ChangeForm],
    since: datetime,
    until: datetime,
    *,
    is_zoomed: bool,
    events: Sequence[drawing.Event] = (),
) -> drawing.Series:
    """Means with intervals over the usual range; in alarm from the onset of what got worse."""
    series = story.series
    half = timedelta(seconds=series.bin_seconds / 2)
    middles = [(min(max(point.start + half, since), until), point) for point in series.points]
    return drawing.series(
        list(_means(middles, series)),
        since,
        until,
        says=chart_words(story),
        past=[
            drawing.Past(time=time, low=point.usual_low, high=point.usual_high)
            for time, point in middles
            if point.usual_low is not None and point.usual_high is not None
        ],
        onset=story.cell.since if story.cell and story.state.is_alarm else None,
        changes=[drawing.Event(time=change.time, words=change.letter) for change in changes],
        events=events,
        is_zoomed=is_zoomed,
        height=112,
    )


def chart_words(story: RubricStory) -> str:
    """A chart in words: where it ends, where it usually lies, and what moved."""
    points = story.series.points
    if not points:
        return f"{story.name}: no scores in this time"
    last = points[-1]
    words = [f"{story.name} is {score(last.mean)}, from {counted(last.n, 'answer')}"]
    if last.usual_low is not None:
        words.append(f"usually {score(last.usual_low)} to {score(last.usual_high)} at these hours")
    if story.cell and story.cell.delta is not None:
        change = f"{in_points(story.cell.delta)} {'lower' if story.cell.delta < 0 else 'higher'}"
        words.append(f"{change} than before, {between(story.cell.low, story.cell.high)}")
    return "; ".join(words)


def _means(
    middles: Sequence[tuple[datetime, PointForm]], series: SeriesForm
) -> Iterator[drawing.Mean]:
    gap = timedelta(seconds=GAP_BINS * series.bin_seconds)
    before: datetime | None = None
    for time, point in middles:
        if before is not None and time - before > gap:
            yield drawing.Mean(time=before + gap / GAP_BINS, value=None)
        yield drawing.Mean(time=time, value=point.mean, low=point.low, high=point.high, n=point.n)
        before = time
