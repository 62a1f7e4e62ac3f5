"""What a finding about a number says. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from math import exp, log

from alerts.signals.catalogue import POOL, Number, finding_id, number
from alerts.signals.levels import Shift
from ragvigil.model.finding import Finding, FindingKind

Scope = tuple[str, str, str, str]
"""Service, environment, signal, route or POOL."""


def opened(scope: Scope, routes: tuple[str, ...], signal: Number, onset: int) -> Finding:
    """A finding without numbers yet, since the minute that starts at `onset` (seconds)."""
    service, environment, name, route = scope
    return Finding(
        finding_id=finding_id(FindingKind.MOVED, service, environment, name, route, onset),
        kind=FindingKind.MOVED,
        service=service,
        environment=environment,
        routes=routes if route == POOL else (route,),
        signal=name,
        layer=signal.layer,
        causes=signal.causes,
        since_unix_nano=onset * 10**9,
    )


def seen_again(finding: Finding, signal: Number, found: Shift, now: int) -> Finding:
    """The same finding with the numbers of now."""
    before, value = (natural(signal, one) for one in (found.level, found.level + found.change))
    low, high = (
        natural(signal, found.level + found.change + side * 1.96 * found.error) - before
        for side in (-1, 1)
    )
    fell = "fell" if found.change < 0 else "rose"
    percent = f" ({100 * (value / before - 1):+.0f} %)" if signal.is_anchored and before else ""
    return replace(
        finding,
        value=value,
        reference=before,
        low=low,
        high=high,
        n=int(found.n),
        seen_unix_nano=now * 10**9,
        words=f"{signal.words} {fell} from {before:.3g} to {value:.3g}{percent}, "
        f"{found.n:.0f} {signal.unit}",
    )


def change_of(finding: Finding) -> float:
    """The change that a finding tells, in the unit that is compared (logarithms where logged)."""
    value, before = finding.value, finding.reference
    if value is None or before is None:
        return 0.0
    if number(finding.signal).is_logged:
        return log(value / before) if value > 0 and before > 0 else 0.0
    return value - before


def natural(signal: Number, level: float) -> float:
    """A level in the unit that people know."""
    return exp(level) if signal.is_logged else level


def shown(signal: Number, level: float) -> str:
    """A level in words."""
    return f"{natural(signal, level):.3g}"


def hour(seconds: int) -> str:
    """A time in words, UTC."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
