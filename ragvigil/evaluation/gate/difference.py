"""The difference of two paired runs: its size, its interval, and how likely chance makes it. Pure.

Groups of questions are resampled, not cases: duplicates and paraphrases are one voice. The
interval is that of the paired bootstrap by group; of a rate with few events it is exact (`exact`).
The probability is that of a sign-flip test by group, which is exact for any number of cases, where
a bootstrap of twelve groups would call too much.

Sources: Efron and Tibshirani 1993; Fisher's randomisation test, for paired scores as in Smucker,
Allan and Carterette 2007; McNemar 1947, which the test is where values are 0 and 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log, sqrt
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragvigil.evaluation.exact import rare_difference, sign_test

Floats: TypeAlias = NDArray[np.float64]
Voice: TypeAlias = tuple[str, float, float]
"""A group, and the value before and after of one of its cases."""

RESAMPLES = 2_000
"""For bounds that leave out 5 %; these many take 1.5 ms for 120 groups."""
FLIPS = 10_000
"""For probabilities down to that of the best among thirty slices."""
AT_ONCE = 1_000_000
"""Random numbers drawn at a time: 2,000 groups would take 160 MB at once."""
FEW_EVENTS = 10
"""With fewer changed groups a resampled interval of a rate is too narrow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What changed from the base to the new run.

    `low` and `high` bound the difference, each missed with probability `tail`. `falls` and `rises`
    are the probabilities of a fall, or rise, as large by chance. `detectable` is the smallest true
    change that would have been seen with the asked power, and `unseen` the largest share of
    questions that may fail without one among these groups (the rule of three).
    """

    n: int
    groups: int
    base: float
    new: float
    low: float
    high: float
    falls: float
    rises: float
    detectable: float
    unseen: float

    @property
    def size(self) -> float:
        """The change of the mean; negative is worse."""
        return self.new - self.base


def difference(
    voices: Sequence[Voice], *, tail: float = 0.05, power: float = 0.8, seed: int = 0
) -> Difference | None:
    """Compares paired values in 0..1; None without any. The same seed gives the same numbers."""
    if not voices:
        return None
    sums, sizes = _by_group(voices)
    low, high = _interval(voices, sums, sizes, tail=tail, seed=seed)
    falls, rises = _by_chance(sums, seed=seed)
    z = NormalDist().inv_cdf
    standard_error = (high - low) / 2 / z(1 - tail)
    return Difference(
        n=len(voices),
        groups=len(sums),
        base=sum(before for _, before, _ in voices) / len(voices),
        new=sum(after for _, _, after in voices) / len(voices),
        low=low,
        high=high,
        falls=falls,
        rises=rises,
        detectable=standard_error * (z(1 - tail) + z(power)),
        unseen=1 - tail ** (1 / len(sums)),
    )


def mean_interval(
    values: Sequence[tuple[str, float]], *, tail: float, seed: int = 0
) -> tuple[float, float]:
    """The bootstrap interval of a mean of values by group; raises ValueError without any."""
    if not values:
        raise ValueError("no values")
    sums, sizes = _by_group([(group, 0.0, value) for group, value in values])
    return _resampled(sums, sizes, tail=tail, seed=seed)


def cases_for(shown: Difference, limit: float, *, tail: float = 0.05) -> int:
    """About how many cases would show a change of `limit`, if further ones are like these."""
    has_changed = min(shown.falls, shown.rises) < 1
    by_noise = shown.n * (shown.detectable / limit) ** 2 if has_changed else 0.0
    # No number of cases shows more than a limit of 1, which allows any change.
    by_chance = log(tail) / log(1 - limit) * shown.n / shown.groups if limit < 1 else 0.0
    return ceil(max(by_noise, by_chance))


def _by_group(voices: Sequence[Voice]) -> tuple[Floats, Floats]:
    sums: dict[str, float] = {}
    sizes: dict[str, int] = {}
    for group, before, after in voices:
        sums[group] = sums.get(group, 0.0) + after - before
        sizes[group] = sizes.get(group, 0) + 1
    return np.array(list(sums.values())), np.array(list(sizes.values()), dtype=np.float64)


def _interval(
    voices: Sequence[Voice], sums: Floats, sizes: Floats, *, tail: float, seed: int
) -> tuple[float, float]:
    falls, rises = int((sums < 0).sum()), int((sums > 0).sum())
    are_rates = all({before, after} <= {0.0, 1.0} for _, before, after in voices)
    if falls + rises == 0 or (are_rates and falls + rises < FEW_EVENTS):
        return rare_difference(falls, rises, len(sums), tail=tail)
    return _resampled(sums, sizes, tail=tail, seed=seed)


def _resampled(sums: Floats, sizes: Floats, *, tail: float, seed: int) -> tuple[float, float]:
    chance = np.random.default_rng(seed)
    groups = len(sums)
    rows = max(1, AT_ONCE // groups)
    means = []
    for start in range(0, RESAMPLES, rows):
        drawn = chance.integers(0, groups, size=(min(rows, RESAMPLES - start), groups))
        means.append(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    low, high = np.quantile(np.concatenate(means), [tail, 1 - tail])
    # Percentiles of few groups are too narrow by this factor (Hesterberg 2015).
    middle, wider = float(sums.sum() / sizes.sum()), sqrt(groups / max(1, groups - 1))
    return middle + wider * (float(low) - middle), middle + wider * (float(high) - middle)


def _by_chance(sums: Floats, *, seed: int) -> tuple[float, float]:
    """The probabilities of a sum as low, and as high, if each group's sign were a coin's toss."""
    changed = sums[np.abs(sums) > 1e-12]
    if not len(changed):
        return 1.0, 1.0
    if np.allclose(np.abs(changed), np.abs(changed[0])):
        falls, rises = int((changed < 0).sum()), int((changed > 0).sum())
        return sign_test(falls, rises), sign_test(rises, falls)
    chance = np.random.default_rng(seed + 1)
    n, total = len(changed), changed.sum()
    rows = max(1, AT_ONCE // n)
    as_low = as_high = 0
    for start in range(0, FLIPS, rows):
        drawn = chance.integers(0, 256, (min(rows, FLIPS - start), -(-n // 8)), dtype=np.uint8)
        is_rise = np.unpackbits(drawn, axis=1)[:, :n].astype(np.float64)
        flipped = 2 * (is_rise @ np.abs(changed)) - np.abs(changed).sum()
        as_low += int((flipped <= total + 1e-9).sum())
        as_high += int((flipped >= total - 1e-9).sum())
    return (as_low + 1) / (FLIPS + 1), (as_high + 1) / (FLIPS + 1)
