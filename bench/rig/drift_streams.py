"""Streams of judged scores as production gives them: atoms at 0 and 1, days and nights, noise.

Scores lie in 21 bins. A stream has a spread of 0.17 to 0.33, traffic with a daily and weekly
rhythm, a level that depends on the hour (another mix of questions, 1.5 points), and latent noise
that is correlated over an hour. Real scores keep their order in blocks instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from alerts.drift.detect import BINS, VALUES
from alerts.drift.state import DAY, Floats

TICK = 300
HOUR_TICKS = 12
MIX_SHIFT = 0.015
NOISE_TICKS = 12.0
"""Correlation time of the latent noise: an hour."""
SPREADS = (0.17, 0.33)
WEEKEND = 0.6
BLOCK = 25
"""Real scores that follow one another are drawn together."""


@dataclass(frozen=True, slots=True)
class Tilt:
    """A distribution over the bins, moved to another mean by exponential weights."""

    shape: Floats

    def moved(self, by: Floats) -> Floats:
        """Probabilities with the mean moved by so much, shape (series, BINS)."""
        shape = self.shape
        aim = shape @ VALUES + by
        weights = shape
        theta = np.zeros(len(shape))
        for _ in range(2):
            mean = weights @ VALUES
            variance = weights @ VALUES**2 - mean**2
            theta = theta + (aim - mean) / np.maximum(variance, 1e-4)
            weights = shape * np.exp(np.clip(theta, -8, 8)[:, None] * VALUES)
            weights = weights / weights.sum(axis=1, keepdims=True)
        return np.asarray(weights)


def shapes(rng: np.random.Generator, series: int) -> Floats:
    """Distributions with atoms at 0 and 1 and a standard deviation within SPREADS."""
    chosen: list[Floats] = []
    while len(chosen) < series:
        perfect, none = rng.uniform(0.1, 0.6), rng.uniform(0.0, 0.08)
        a, b = rng.uniform(2.0, 8.0), rng.uniform(1.0, 4.0)
        inner = np.histogram(rng.beta(a, b, 4000), bins=np.linspace(-0.025, 1.025, BINS + 1))[0]
        shape = inner / inner.sum() * (1 - perfect - none)
        shape[0] += none
        shape[-1] += perfect
        spread = np.sqrt(shape @ VALUES**2 - (shape @ VALUES) ** 2)
        if SPREADS[0] <= spread <= SPREADS[1]:
            chosen.append(shape)
    return np.array(chosen)


def traffic(tick: int) -> float:
    """Traffic of a tick (its end in seconds) against the weekly mean of a weekday."""
    hour = (tick - 1) % DAY / 3600
    rhythm = 1 + 0.8 * np.cos(2 * np.pi * (hour - 15) / 24)
    return float(rhythm * (WEEKEND if (tick - 1) // DAY % 7 in (2, 3) else 1.0))


class Simulated:
    """Draws one tick after another of simulated series.

    `rates` are judged answers an hour on a weekday, by series; `noise` is the standard deviation
    of the latent noise, which is correlated over `noise_ticks`.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        rates: Floats,
        noise: float,
        *,
        noise_ticks: float = NOISE_TICKS,
    ) -> None:
        self._rng, self._rates, self._noise = rng, rates, noise
        self._keep = np.exp(-1 / noise_ticks)
        self._tilt = Tilt(shapes(rng, len(rates)))
        self._phase = rng.uniform(0, 24, len(rates))
        self._latent = rng.standard_normal(len(rates))

    def draw(self, tick: int, drop: Floats, boost: Floats) -> Floats:
        """Histograms of a tick, shape (series, BINS); `boost` multiplies the rate of judging."""
        keep = self._keep
        fresh = self._rng.standard_normal(len(self._rates))
        self._latent = keep * self._latent + np.sqrt(1 - keep**2) * fresh
        hour = (tick - 1) % DAY / 3600
        mix = MIX_SHIFT * np.sin(2 * np.pi * (hour - self._phase) / 24)
        n = self._rng.poisson(self._rates / HOUR_TICKS * traffic(tick) * boost)
        moved = self._tilt.moved(mix + self._noise * self._latent - drop)
        return self._rng.multinomial(n, moved).astype(np.float64)


class Real:
    """Draws ticks of real scores in blocks; a drop replaces good scores by zeros.

    `pools` are the scores of labelled sets in their order, in 0..1; series take them in turn.
    """

    def __init__(self, rng: np.random.Generator, rates: Floats, pools: Sequence[Floats]) -> None:
        self._rng, self._rates = rng, rates
        self._pools = [
            np.rint(np.asarray(pools[row % len(pools)]) * (BINS - 1)).astype(np.int64)
            for row in range(len(rates))
        ]
        self._at = [int(rng.integers(len(pool))) for pool in self._pools]

    def draw(self, tick: int, drop: Floats, boost: Floats) -> Floats:
        """Histograms of a tick, as `Simulated.draw`."""
        n = self._rng.poisson(self._rates / HOUR_TICKS * traffic(tick) * boost)
        counts = np.zeros((len(self._rates), BINS))
        for row, pool in enumerate(self._pools):
            counts[row] = self._of(row, pool, int(n[row]), float(drop[row]))
        return counts

    def _of(self, row: int, pool: np.ndarray, n: int, drop: float) -> Floats:
        parts: list[np.ndarray] = []
        while n > 0:
            at = self._at[row]
            some = min(n, BLOCK - at % BLOCK)
            parts.append(pool[np.arange(at, at + some) % len(pool)])
            n -= some
            at += some
            # A block ends: the next begins anywhere.
            is_over = at % BLOCK == 0
            self._at[row] = int(self._rng.integers(len(pool) // BLOCK)) * BLOCK if is_over else at
        if not parts:
            return np.zeros(BINS)
        bins = np.concatenate(parts)
        if drop:
            level = max(float(pool.mean()) / (BINS - 1), drop)
            bins = np.where(self._rng.random(len(bins)) < drop / level, 0, bins)
        return np.bincount(bins, minlength=BINS).astype(np.float64)
