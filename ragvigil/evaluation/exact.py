"""Exact intervals of shares, and intervals of paired rates with few events. Pure.

    >>> tuple(round(bound, 3) for bound in share_interval(2, 14, tail=0.025))
    (0.018, 0.428)

Sources: Clopper and Pearson 1934; Zou and Donner 2008 for the difference (MOVER).
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb, exp, lgamma, log, sqrt

STEPS = 60
"""Halvings of the search for a bound: past what a float can tell apart."""


def share_interval(events: int, n: int, *, tail: float) -> tuple[float, float]:
    """Clopper and Pearson's interval of a share; each bound is missed with `tail` at most.

    0 to 1 if `n` is 0.
    """
    if not n:
        return 0.0, 1.0
    low = _root(lambda share: 1 - _up_to(events - 1, n, share) - tail) if events else 0.0
    high = _root(lambda share: tail - _up_to(events, n, share)) if events < n else 1.0
    return low, high


def rare_difference(falls: int, rises: int, n: int, *, tail: float) -> tuple[float, float]:
    """The interval of `rises / n - falls / n`, from the exact intervals of the two shares.

    With few events a resampled interval is too narrow, and with none it has no width at all.

    >>> tuple(round(bound, 3) for bound in rare_difference(0, 0, 120, tail=0.05))
    (-0.025, 0.025)
    """
    fell, rose = falls / n, rises / n
    fell_low, fell_high = share_interval(falls, n, tail=tail)
    rose_low, rose_high = share_interval(rises, n, tail=tail)
    down = sqrt((rose - rose_low) ** 2 + (fell_high - fell) ** 2)
    up = sqrt((rose_high - rose) ** 2 + (fell - fell_low) ** 2)
    return max(-1.0, rose - fell - down), min(1.0, rose - fell + up)


def sign_test(falls: int, rises: int) -> float:
    """The probability of as many falls or more if each change were a coin's toss (McNemar).

    >>> sign_test(3, 0), sign_test(0, 0)
    (0.125, 1.0)
    """
    n = falls + rises
    return float(sum(comb(n, k) for k in range(falls, n + 1)) / 2**n)


def _root(rising: Callable[[float], float]) -> float:
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) > 0 else (middle, high)
    return (low + high) / 2


def _up_to(events: int, n: int, share: float) -> float:
    """The probability of at most so many events."""
    if share <= 0 or share >= 1:
        return float(share <= 0 or events >= n)
    by_share = log(share), log(1 - share)
    logs = (
        lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * by_share[0] + (n - k) * by_share[1]
        for k in range(events + 1)
    )
    return min(1.0, sum(map(exp, logs)))
