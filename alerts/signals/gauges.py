"""The newest values of the signals, for gauges. Pure."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from alerts.signals.catalogue import number
from alerts.signals.minutes import SignalMinutes
from alerts.signals.moved_words import natural

GAUGE_MINUTES = 15
"""Minutes that a gauge is the mean of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalReading:
    """The newest value of a signal on a route: a share, or the (geometric) mean of a number."""

    service: str
    environment: str
    route: str
    signal: str
    value: float


def readings(table: SignalMinutes, minutes: int = GAUGE_MINUTES) -> tuple[SignalReading, ...]:
    """Means over the last minutes of the table; a signal without values has no reading.

    Segments of one series are pooled: a gauge shows what users got, whichever version scored it.
    """
    n, total, _ = table.last(table.end, minutes)
    sums: dict[tuple[str, str, str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for place, series in enumerate(table.series):
        if n[place] > 0:
            sums_of = sums[series.service, series.environment, series.route, series.rubric]
            sums_of[0] += n[place]
            sums_of[1] += total[place]
    return tuple(
        SignalReading(
            service=service,
            environment=environment,
            route=route,
            signal=signal,
            value=natural(number(signal), float(added / count)),
        )
        for (service, environment, route, signal), (count, added) in sums.items()
    )
