"""What a finding about a rate says. Pure."""

from __future__ import annotations

from dataclasses import replace

from alerts.signals.catalogue import BY_SIGNAL, POOL, finding_id, scope_of
from alerts.signals.ceilings import Ceilings, Counted, Group, Scope
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.wilson import wilson


def opened(scope: Scope, group: Group, one: Counted, onset: int, end: int) -> Finding:
    """A finding without numbers yet, since the minute that starts at `onset` (seconds)."""
    service, environment, signal, route = scope
    rate = BY_SIGNAL[signal]
    pooled = one.routes if len(one.routes) > 1 else group.routes
    return Finding(
        finding_id=finding_id(FindingKind.BROKEN, service, environment, signal, route, onset),
        kind=FindingKind.BROKEN,
        service=service,
        environment=environment,
        routes=pooled if route == POOL else (route,),
        signal=signal,
        layer=rate.layer,
        causes=rate.causes,
        since_unix_nano=onset * 10**9,
        seen_unix_nano=end * 10**9,
    )


def seen_again(finding: Finding, one: Counted, now: int, ceilings: Ceilings) -> Finding:
    """The same finding with the numbers of now; a pool keeps the routes that it had."""
    low, high = wilson(one.failed, one.n)
    routes = tuple(dict.fromkeys((*finding.routes, *one.routes)))
    return replace(
        finding,
        routes=routes,
        value=one.share,
        reference=one.ceiling,
        low=low - one.ceiling,
        high=high - one.ceiling,
        n=int(one.n),
        seen_unix_nano=now * 10**9,
        words=_words(finding, one, ceilings),
    )


def _words(finding: Finding, one: Counted, ceilings: Ceilings) -> str:
    """ "38 of 41 answers cite what is not there (93 %, ceiling 30 %)"."""
    scope = (finding.service, finding.environment, finding.signal, scope_of(finding.routes))
    what = BY_SIGNAL[finding.signal].words.format(seconds=ceilings.seconds(scope))
    share, ceiling = _percent(one.share), _percent(one.ceiling)
    return f"{one.failed:.0f} of {one.n:.0f} {what} ({share}, ceiling {ceiling})"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def cleared_by(finding: Finding, one: Counted | None, now: int) -> Finding:
    """The same finding, over; `one` is the rate of now, None where nobody asks."""
    if one is None or not one.n:
        words = f"no requests any more; last: {finding.words}"
    else:
        words = f"back under the ceiling: {_percent(one.share)} of {one.n:.0f}"
    return replace(finding, cleared_unix_nano=now * 10**9, words=words)
