"""The findings about rates, and their words. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from alerts.signals.catalogue import BY_SIGNAL, POOL, finding_id, scope_of
from alerts.signals.ceilings import Ceilings, Group, Scope, WindowRate
from alerts.signals.onset import Onset
from ragvigil.model import figures
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.wilson import wilson


def open_finding(scope: Scope, group: Group, rate: WindowRate, onset: Onset, end: int) -> Finding:
    """Makes a finding, without numbers yet, since its onset; `end` is in seconds."""
    service, environment, signal, route = scope
    followed = BY_SIGNAL[signal]
    pooled = rate.routes if len(rate.routes) > 1 else group.routes
    return Finding(
        finding_id=finding_id(FindingKind.BROKEN, service, environment, signal, route, onset.start),
        kind=FindingKind.BROKEN,
        service=service,
        environment=environment,
        routes=pooled if route == POOL else (route,),
        signal=signal,
        layer=followed.layer,
        causes=followed.causes,
        since_unix_nano=onset.start * 10**9,
        earliest_unix_nano=onset.earliest * 10**9,
        latest_unix_nano=onset.latest * 10**9,
        seen_unix_nano=end * 10**9,
    )


def with_numbers(finding: Finding, rate: WindowRate, now: int, ceilings: Ceilings) -> Finding:
    """Updates a finding to the numbers of now; its routes are only ever added to."""
    low, high = wilson(rate.failed, rate.n)
    routes = tuple(dict.fromkeys((*finding.routes, *rate.routes)))
    return replace(
        finding,
        routes=routes,
        value=rate.share,
        reference=rate.ceiling,
        low=low - rate.ceiling,
        high=high - rate.ceiling,
        n=int(rate.n),
        seen_unix_nano=now * 10**9,
        words=_words(finding, rate, (low, high), ceilings),
    )


def _words(
    finding: Finding, rate: WindowRate, between: tuple[float, float], ceilings: Ceilings
) -> str:
    """ "38 of 41 answers cite what is not there (93 % [81, 97], ceiling 30 %)"."""
    scope = (finding.service, finding.environment, finding.signal, scope_of(finding.routes))
    what = BY_SIGNAL[finding.signal].words.format(seconds=ceilings.seconds(scope))
    share = figures.share_within(rate.share, between)
    ceiling = figures.share(rate.ceiling)
    return f"{rate.failed:.0f} of {rate.n:.0f} {what} ({share}, ceiling {ceiling})"


def clear_finding(
    finding: Finding, rate: WindowRate | None, now: int, since: int | None
) -> Finding:
    """Clears a finding at `now`, seconds; it is back `since`, None if it ends for another reason.

    `rate` is that of the last two hours, None without requests.
    """
    if since is not None:
        words = f"back under the ceiling since {datetime.fromtimestamp(since, UTC):%H:%M} UTC"
    elif rate is None or not rate.n:
        words = f"no requests any more; last: {finding.words}"
    else:
        words = f"this level is expected: {figures.share(rate.share)} of {rate.n:.0f}"
    return replace(finding, cleared_unix_nano=now * 10**9, words=words)
