"""How far the sampling rates sink when the day's budget runs out: for all routes alike.

Called once a minute. Halved while the sample is about to overrun what the traffic of the day has
earned it so far, raised by a quarter while there is room; never to nothing, so that it recovers.

>>> thinned(1.0, spent=(96, 0.0), allowed=(100, None))
0.5
>>> thinned(0.5, spent=(20, 0.0), allowed=(100, None))
0.625
"""

from __future__ import annotations

FULL, ROOMY = 0.95, 0.8
LEAST = 1 / 64

Amounts = tuple[float, float]
Limits = tuple[float | None, float | None]


def thinned(before: float, *, spent: Amounts, allowed: Limits) -> float:
    """The next thinning (0..1); amounts are tokens and money, a limit of None is none."""
    used = max(
        (
            amount / limit if limit else 1.0
            for amount, limit in zip(spent, allowed, strict=True)
            if limit is not None
        ),
        default=0.0,
    )
    if used >= FULL:
        return max(LEAST, before / 2)
    return min(1.0, before * 1.25) if used < ROOMY else before
