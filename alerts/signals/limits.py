"""Says what a service of some traffic can see, how fast, layer by layer. Pure.

The figures follow from the detectors' own rules, for given shares and deviations; no store is read.
A small service sees a change at once and a drop of quality late; this says how late.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from alerts.audits.confidence import could_show
from alerts.audits.decide import Plan
from alerts.audits.settings import AuditSettings
from alerts.deltas.compute import FALSE_ALARM_TICKS, SLACK
from alerts.signals.catalogue import number
from alerts.signals.ceilings import OVER, UNUSUAL, evidence
from alerts.signals.ceilings import WINDOWS as BROKEN_WINDOWS
from alerts.signals.levels import bounded_distance
from alerts.signals.moved import LEAST_Z
from alerts.signals.moved import WINDOWS as MOVED_WINDOWS
from alerts.signals.settings import BrokenSettings, MovedSettings
from ragvigil.model.signal import UNSUPPORTED

NOTICE_REQUESTS = 15
"""Requests of a route within which a change is noticed (bench/notices.py)."""
BROKEN_SHARES = (0.3, 0.6, 1.0)
USUAL_SHARE = 0.05
"""Share of requests that fail on a usual day, where the past is not known."""
MOVES = (0.5, 1.0)
"""Changes of a number, in standard deviations of single requests."""
UNSUPPORTED_SHARES = (0.2, 0.3)
"""Shares of answers that a local model finds unsupported; a twentieth of the healthy ones is."""
AUDIT_DROPS = (0.12, 0.085, 0.06)
DRIFT_HOURS = (1, 6, 24, 168)
TICK_MINUTES = 1.5
"""Minutes until a request counts: its minute ends, and is read half a minute later."""
MOST = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A service: requests an hour over all routes, the share judged, the spread of its scores.

    `overdispersion` is how much more hourly means vary than chance explains; 1 is not at all.
    """

    requests: float
    routes: int = 1
    sample: float = 0.07
    sd: float = 0.27
    overdispersion: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One line: what a layer sees, what that needs, and in how many minutes.

    `route_` fields are for one route, `pooled_` for all routes together. Minutes are None where it
    is not seen that way; points, the drop that shows, are None for layers that measure none.
    `calls` are those of the judge.
    """

    layer: str
    what: str
    needs: str
    route_minutes: float | None = None
    pooled_minutes: float | None = None
    route_points: float | None = None
    pooled_points: float | None = None
    calls: int | None = None


def limits(service: Service) -> tuple[Limit, ...]:
    """All layers, the fastest first."""
    return (
        _notice(service),
        *_broken(service),
        *_moved(service),
        *_audit(service),
        *_drift(service),
    )


def drift_points(judged: float, sd: float, overdispersion: float = 1.0) -> float | None:
    """The drop in points that this many judged records show; None if none does.

    slack + sqrt(2 s² φ ln(ARL) / n), one false alarm in 100 weeks of a series.

    >>> round(drift_points(672, 0.27), 1)
    6.1
    """
    if judged <= 0:
        return None
    spread = 2 * sd * sd * overdispersion * math.log(FALSE_ALARM_TICKS) / judged
    drop = SLACK + math.sqrt(spread)
    return 100 * drop if drop < 1 else None


def _notice(service: Service) -> Limit:
    minutes = _minutes(NOTICE_REQUESTS, service.requests / service.routes)
    return Limit(
        layer="notice",
        what="any change of the service",
        needs=f"{NOTICE_REQUESTS} of a route",
        route_minutes=minutes,
    )


def _broken(service: Service) -> Iterator[Limit]:
    settings = BrokenSettings()
    for share in BROKEN_SHARES:
        n = _least(partial(_is_broken, share, settings))
        yield Limit(
            layer="broken",
            what=f"{100 * share:.0f} % empty, failed, cut off",
            needs=f"{n} requests" if n else "stays under the ceiling",
            route_minutes=_in_window(n, service.requests / service.routes, BROKEN_WINDOWS[-1]),
            pooled_minutes=_in_window(n, service.requests, BROKEN_WINDOWS[-1]),
        )


def _is_broken(share: float, settings: BrokenSettings, n: int) -> bool:
    # Both proofs that the detector asks for: over the ceiling, and unusual.
    failed = share * n
    return (
        n >= settings.fewest_requests
        and evidence(failed, n, settings.empty_retrieval) >= OVER
        and evidence(failed, n, USUAL_SHARE) >= UNUSUAL
    )


def _moved(service: Service) -> Iterator[Limit]:
    for sds in MOVES:
        # The mean of n requests has a standard error of one deviation by the root of n.
        n = math.ceil((LEAST_Z / sds) ** 2)
        yield _of_moved(service, f"numbers by {sds:g} deviations", n, "requests")
    for share in UNSUPPORTED_SHARES:
        n = _least(partial(_is_unusual, share)) or MOST
        yield _of_moved(service, f"{100 * share:.0f} % with the label unsupported", n, "answers")


def _of_moved(service: Service, what: str, least: int, unit: str) -> Limit:
    n = max(MovedSettings().fewest_requests, least)
    return Limit(
        layer="moved",
        what=what,
        needs=f"{n} {unit}",
        route_minutes=_in_window(n, service.requests / service.routes, MOVED_WINDOWS[-1]),
        pooled_minutes=_in_window(n, service.requests, MOVED_WINDOWS[-1]),
    )


def _is_unusual(share: float, n: int) -> bool:
    usual = number(UNSUPPORTED).allowed
    return bounded_distance(n, share - usual, usual * (1 - usual), 1 - usual) >= LEAST_Z


def _audit(service: Service) -> Iterator[Limit]:
    settings = AuditSettings()
    plan = Plan(first=settings.rubrics, then=settings.then)
    alpha = plan.alpha(settings.rubrics[0])
    # Twice the records: an audit may go on that far while a drop is in sight.
    most = 2 * settings.records
    for drop in AUDIT_DROPS:
        pairs = _least(partial(_shows, drop, 2 * service.sd**2, alpha)) or MOST
        is_payable = pairs <= most
        window = 60 * settings.hours if is_payable else 0.0
        yield Limit(
            layer="audit",
            what=f"{100 * drop:g} points after a change",
            needs=f"{pairs} pairs" if is_payable else f"{pairs} pairs (of {most})",
            route_minutes=_in_window(pairs, service.requests / service.routes, window),
            pooled_minutes=_in_window(pairs, service.requests, window),
            route_points=100 * drop,
            pooled_points=100 * drop,
            calls=2 * pairs,
        )


def _shows(drop: float, variance: float, alpha: float, n: int) -> bool:
    return could_show(n, variance, alpha) <= drop


def _drift(service: Service) -> Iterator[Limit]:
    for hours in DRIFT_HOURS:
        judged = service.requests * service.sample * hours
        yield Limit(
            layer="drift",
            what=f"a lasting drop, in {_duration(hours)}",
            needs=f"{judged:.0f} judged",
            route_minutes=60.0 * hours,
            pooled_minutes=60.0 * hours,
            route_points=drift_points(judged / service.routes, service.sd, service.overdispersion),
            pooled_points=drift_points(judged, service.sd, service.overdispersion),
        )


def _least(is_enough: Callable[[int], bool]) -> int | None:
    """The smallest number that is enough, by doubling and bisection; None if none up to MOST is."""
    high = 1
    while not is_enough(high):
        high *= 2
        if high > MOST:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _in_window(n: int | None, an_hour: float, window: float) -> float | None:
    """Minutes until a window holds n requests; None if it never does."""
    if n is None or _minutes(n, an_hour) > window:
        return None
    return _minutes(n, an_hour) + TICK_MINUTES


def _minutes(n: float, an_hour: float) -> float:
    return 60.0 * n / an_hour


def _duration(hours: int) -> str:
    return f"{hours // 24} d" if hours > 24 else f"{hours} h"
