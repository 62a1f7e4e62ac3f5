"""A judged mean corrected by a cheap score: does its interval hold, and what is it worth?

    python bench/control_variates.py [--small]

Scores with atoms at 0 and 1 as judges give them, a cheap score with a correlation of 0.7, and 5, 7
and 10 % judged; the truth is the mean of the process. One run in four is judged unevenly: half
of the records with five times the probability of the others.

Then two streams that a plain mean is wrong about: one of which the worse answers are judged eight
times as often (a boosted, adversarial sample), and one where each hour another question is asked by
many, with one score for all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from alerts.deltas.measure import measure
from alerts.deltas.quantiles import student
from alerts.deltas.two_phase import judged_mean, sums_of
from alerts.deltas.windows import SUMS, Floats, Tally
from bench.rig.options import parse_small
from bench.rig.report import finish, progress

SEED = 23
RHO = 0.7
SHARES = (0.05, 0.07, 0.10)
CALM_MEAN = 0.7 - 0.2 * 0.0293
"""Of a normal of mean 0.7 and deviation 0.2 that is cut at 1 (and at 0, far away)."""
RECORDS = 2400
"""Records of six hours on a route of some traffic: 120 to 240 of them judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Many days of traffic at once: cheap and judged scores, and their true mean."""

    cheap: Floats
    judged: Floats
    truth: float


def pairs(rng: np.random.Generator, size: int, mix: float) -> tuple[Floats, Floats]:
    """Cheap and judged scores in 0..1: latent normals, the judged one with atoms at 0 and 1."""
    latent = rng.standard_normal(size)
    other = mix * latent + np.sqrt(1 - mix**2) * rng.standard_normal(size)
    return np.clip(0.6 + 0.2 * latent, 0, 1), np.clip(0.75 + 0.3 * other, 0, 1)


def mixing(rng: np.random.Generator) -> float:
    """The latent correlation that gives the scores a correlation of RHO."""
    low, high = RHO, 1.0
    for _ in range(12):
        middle = (low + high) / 2
        found = np.corrcoef(*pairs(rng, 2_000_000, middle))[0, 1]
        low, high = (middle, high) if found < RHO else (low, middle)
    return (low + high) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one share gave over all repetitions."""

    covered: float
    gain: float
    told: float
    expected: float
    covered_uneven: float


def tried(rng: np.random.Generator, share: float, mix: float, truth: float, runs: int) -> Seen:
    """Coverage, and the gain over the plain mean of the same samples.

    The gain is that of the mean squared errors, `told` the one that the estimate itself states.
    """
    errors, plain, told, covered = (np.empty(runs) for _ in range(4))
    for run in range(runs):
        cheap, judged = pairs(rng, RECORDS, mix)
        place = np.flatnonzero(rng.random(RECORDS) < share)
        estimate = judged_mean(sums_of(cheap, judged[place], place, np.full(len(place), share)))
        assert estimate is not None
        errors[run] = estimate.mean - truth
        plain[run] = judged[place].mean() - truth
        told[run] = estimate.n_effective / estimate.n
        covered[run] = estimate.low <= truth <= estimate.high
    return Seen(
        covered=float(covered.mean()),
        gain=float((plain**2).mean() / (errors**2).mean()),
        told=float(np.median(told)),
        expected=1 / (1 - RHO**2 * (1 - share)),
        covered_uneven=uneven(rng, share, mix, truth, runs // 4),
    )


def uneven(rng: np.random.Generator, share: float, mix: float, truth: float, runs: int) -> float:
    """Coverage where doubtful records are judged five times as often as the others."""
    covered = 0
    for _ in range(runs):
        cheap, judged = pairs(rng, RECORDS, mix)
        probability = np.where(cheap < 0.6, share * 5 / 3, share / 3)
        place = np.flatnonzero(rng.random(RECORDS) < probability)
        estimate = judged_mean(sums_of(cheap, judged[place], place, probability[place]))
        assert estimate is not None
        covered += estimate.low <= truth <= estimate.high
    return covered / runs


def boosted(rng: np.random.Generator, mix: float, truth: float, runs: int) -> dict[str, float]:
    """Coverage, and errors beside the plain mean's, where bad answers are judged more often."""
    errors, plain, covered = (np.empty(runs) for _ in range(3))
    for run in range(runs):
        cheap, judged = pairs(rng, RECORDS, mix)
        # It depends on the score itself: no cheap score could correct for it.
        probability = np.where(judged < 0.6, 0.4, 0.05)
        place = np.flatnonzero(rng.random(RECORDS) < probability)
        estimate = judged_mean(sums_of(cheap, judged[place], place, probability[place]))
        assert estimate is not None
        errors[run] = estimate.mean - truth
        plain[run] = judged[place].mean() - truth
        covered[run] = estimate.low <= truth <= estimate.high
    return {
        "covered": round(float(covered.mean()), 4),
        "error": round(float(np.sqrt((errors**2).mean())), 4),
        "error_of_plain": round(float(np.sqrt((plain**2).mean())), 4),
    }


def crowded(rng: np.random.Generator, runs: int) -> dict[str, float]:
    """Coverage of a mean over six hours, in each of which one question is asked by many.

    Of 200 answers an hour 26 share a question, and its score. `covered_without` is that of the
    interval which takes each answer for a voice of its own.
    """
    hours, an_hour, popular = 6, 200, 26
    covered = np.zeros((runs, 2))
    for run in range(runs):
        values = np.clip(rng.normal(0.7, 0.2, (hours, an_hour)), 0, 1)
        values[:, :popular] = values[:, :1]
        counts = np.array([values.size, values.sum(), (values**2).sum(), 0.0, 0.0])
        crowding = hours * (popular**2 + an_hour - popular)
        for place, crowd in enumerate((crowding, values.size)):
            asked = np.array([float(values.size), float(crowd)])
            tally = Tally(counts[:, None, None], np.zeros((len(SUMS), 1, 0)), asked[:, None, None])
            means = measure(tally, np.zeros(0, dtype=np.int64), np.ones((1, 1))).means
            half = student(means.n - 1) * np.sqrt(means.variance() / means.n)
            covered[run, place] = abs(means.mean() - CALM_MEAN)[0, 0] <= half[0, 0]
    with_crowding, without = covered.mean(axis=0).tolist()
    return {"covered": round(with_crowding, 4), "covered_without": round(without, 4)}


def main() -> None:
    """Runs it and prints the JSON line."""
    runs = 4_000 if parse_small(__doc__) else 40_000
    rng = np.random.default_rng(SEED)
    mix = mixing(rng)
    truth = float(pairs(rng, 20_000_000, mix)[1].mean())
    figures: dict[str, object] = {"rho": RHO, "records": RECORDS, "runs": runs}
    bars: dict[str, bool] = {}
    # The gain has a standard error of about sqrt(2 / runs): 2 % of the small size is noise.
    least = 0.95 if runs >= 40_000 else 0.95 - 2 * math.sqrt(2 / runs)
    for share in SHARES:
        seen = tried(rng, share, mix, truth, runs)
        figures[f"f={share}"] = {
            "covered": round(seen.covered, 4),
            "covered_uneven": round(seen.covered_uneven, 4),
            "gain": round(seen.gain, 3),
            "gain_told": round(seen.told, 3),
            "gain_expected": round(seen.expected, 3),
            "of_expected": round(seen.gain / seen.expected, 3),
        }
        bars |= {
            f"f={share}: interval covers 93 to 97 %": 0.93 <= seen.covered <= 0.97,
            f"f={share}: uneven sample covers 93 to 97 %": 0.93 <= seen.covered_uneven <= 0.97,
            f"f={share}: effective n >= 0.95 of the formula": seen.gain >= least * seen.expected,
        }
        progress(f"f = {share}: {figures[f'f={share}']}")
    figures["boosted"] = of_boosted = boosted(rng, mix, truth, runs // 4)
    figures["crowded"] = of_crowded = crowded(rng, runs // 4)
    bars |= {
        "boosted: interval covers 93 to 97 %": 0.93 <= of_boosted["covered"] <= 0.97,
        "boosted: error <= a fifth of the plain mean's": of_boosted["error"]
        <= of_boosted["error_of_plain"] / 5,
        "crowded: interval covers >= 93 %": of_crowded["covered"] >= 0.93,
    }
    progress(f"boosted {of_boosted}, crowded {of_crowded}")
    finish("control_variates", figures, bars, seed=SEED)


if __name__ == "__main__":
    main()
