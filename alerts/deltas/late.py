"""Counts scores that come after their tick has closed. Pure."""

from __future__ import annotations

from alerts.deltas.windows import DAY, TICK_SECONDS, Rollups


class LateScores:
    """Remembers how many scores each closed tick of the last day had.

    An import of older answers is not late, nor is what came before the first count.
    """

    def __init__(self) -> None:
        self._closed: dict[int, float] = {}

    def count(self, rollups: Rollups, closed_until: int) -> int:
        """Scores that are new in ticks that had closed when they were counted last.

        `closed_until` is the end of the newest closed tick, seconds since the epoch.
        """
        rubrics = [place for place, each in enumerate(rollups.series) if ":" not in each.rubric]
        oldest = closed_until - DAY * TICK_SECONDS
        late = 0.0
        for place, scores in enumerate(rollups.counts[0][:, rubrics].sum(axis=1).tolist()):
            tick = rollups.start + (place + 1) * TICK_SECONDS
            if oldest < tick <= closed_until:
                late += max(0.0, scores - self._closed.get(tick, scores))
                self._closed[tick] = scores
        self._closed = {tick: scores for tick, scores in self._closed.items() if tick > oldest}
        return round(late)
