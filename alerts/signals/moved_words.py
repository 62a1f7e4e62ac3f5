"""The findings about numbers, and their words. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from math import exp, log

from alerts.signals.catalogue import POOL, Number, finding_id, number
from alerts.signals.levels import Shift
from alerts.signals.onset import Onset
from ragvigil.model.finding import Finding, FindingKind

Scope = tuple[str, str, str, str]
"""Service, environment, signal, route or POOL."""


def open_finding(scope: Scope, routes: tuple[str, ...], signal: Number, onset: Onset) -> Finding:
    """Makes a finding, without numbers yet, since its onset."""
    service, environment, name, route = scope
    return Finding(
        finding_id=finding_id(FindingKind.MOVED, service, environment, name, route, onset.start),
        kind=FindingKind.MOVED,
        service=service,
        environment=environment,
        routes=routes if route == POOL else (route,),
        signal=name,
        layer=signal.layer,
        causes=signal.causes,
        since_unix_nano=onset.start * 10**9,
        earliest_unix_nano=onset.earliest * 10**9,
        latest_unix_nano=onset.latest * 10**9,
    )


def with_numbers(finding: Finding, signal: Number, shift: Shift, now: int) -> Finding:
    """Updates a finding to the numbers of now."""
    before, value = (natural(signal, level) for level in (shift.level, shift.level + shift.change))
    low, high = (
        natural(signal, shift.level + shift.change + side * 1.96 * shift.error) - before
        for side in (-1, 1)
    )
    fell = "fell" if shift.change < 0 else "rose"
    # The past of a label counts as what healthy answers may have, if it had less.
    most = "at most " if signal.allowed and shift.level <= signal.allowed else ""
    percent = f" ({100 * (value / before - 1):+.0f} %)" if signal.is_anchored and before else ""
    return replace(
        finding,
        value=value,
        reference=before,
        low=low,
        high=high,
        n=int(shift.n),
        seen_unix_nano=now * 10**9,
        words=f"{signal.words} {fell} from {most}{change_words(before, value)}{percent}, "
        f"{shift.n:.0f} {signal.unit}",
    )


def change_words(before: float, value: float) -> str:
    """Two different numbers with as many digits as show that they differ, at least three.

    >>> change_words(0.5431, 0.5434), change_words(120.4, 60)
    ('0.5431 to 0.5434', '120 to 60')
    """
    digits = next((some for some in (3, 4, 5) if f"{before:.{some}g}" != f"{value:.{some}g}"), 6)
    return f"{before:.{digits}g} to {value:.{digits}g}"


def change_of(finding: Finding) -> float:
    """The change that a finding reports, as compared (in logarithms where logged)."""
    value, before = finding.value, finding.reference
    if value is None or before is None:
        return 0.0
    if number(finding.signal).is_logged:
        return log(value / before) if value > 0 and before > 0 else 0.0
    return value - before


def natural(signal: Number, level: float) -> float:
    """A level in its natural unit: undoes the logarithm."""
    return exp(level) if signal.is_logged else level


def level_words(signal: Number, level: float) -> str:
    """A level in words; what rounding leaves of 0 is 0."""
    return f"{round(natural(signal, level), 9) + 0.0:.3g}"


def time_words(seconds: int) -> str:
    """A time in words, UTC."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
