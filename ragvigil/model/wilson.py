"""The confidence interval of a counted share."""

from __future__ import annotations

from math import sqrt


def wilson(failed: float, n: float, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval of a share (1927), 95 % by default; 0 to 1 if `n` is 0.

    >>> tuple(round(bound, 3) for bound in wilson(3, 100))
    (0.01, 0.085)
    """
    if not n:
        return 0.0, 1.0
    share, z2 = failed / n, z * z / n
    middle, half = share + z2 / 2, z * sqrt(share * (1 - share) / n + z2 / (4 * n))
    low, high = (middle - half) / (1 + z2), (middle + half) / (1 + z2)
    return max(0.0, min(low, share)), min(1.0, max(high, share))
