"""The mean of a window that everything shows: corrected where only a sample was judged. Pure.

One question that many ask at once is one voice: the effective number of scores is divided by how
crowded the questions are (Kish's design effect, as if a question always got the same score).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alerts.deltas.two_phase import LEAST_TO_FIT, estimates
from alerts.deltas.windows import SUMS, Counts, Floats, Ints, Tally, ratio
from ragvigil.model.delta import Estimate

ESTIMATES = (Estimate.PLAIN, Estimate.TOO_FEW, Estimate.WEIGHTED, Estimate.CORRECTED)
_PLAIN, _TOO_FEW, _WEIGHTED, _CORRECTED = range(len(ESTIMATES))
SAMPLED = SUMS.index("sampled")


@dataclass(frozen=True, slots=True)
class Measure:
    """What is known of the means of some windows; arrays of the shape (windows, series).

    `plain` counts what was scored. `means` are the counts of a plain sample with the same mean and
    the same precision as the estimate. `estimate` is a position in ESTIMATES; `judged_share` is the
    share of all answers that were judged, NaN of what is scored on all.
    """

    plain: Counts
    means: Counts
    estimate: Ints
    judged_share: Floats


def measure(tally: Tally, sampled: Ints, phi: Floats) -> Measure:
    """Estimates means from sums; `sampled` are the positions of series judged on a sample.

    `phi` is the overdispersion by which readers divide n: crowding within it is not counted twice.
    """
    plain = Counts(*tally.counts)
    n, mean, square = plain.n.copy(), ratio(plain.total, plain.n), ratio(plain.squares, plain.n)
    kinds = np.full(n.shape, _PLAIN)
    seen, share = n.copy(), np.full(n.shape, np.nan)
    answers, crowding = tally.questions
    if len(sampled):
        judged = estimates(tally.samples)
        seen[:, sampled] = tally.samples[SAMPLED]
        share[:, sampled] = np.minimum(ratio(seen, answers), 1.0)[:, sampled]
        enough = judged.n >= LEAST_TO_FIT
        kinds[:, sampled] = np.where(judged.slope != 0, _CORRECTED, _WEIGHTED)
        kinds[:, sampled] = np.where(enough, kinds[:, sampled], _TOO_FEW)
        n[:, sampled] = np.where(enough, judged.n_effective, n[:, sampled])
        mean[:, sampled] = np.where(enough, judged.mean, mean[:, sampled])
        spread = judged.spread + judged.mean**2
        square[:, sampled] = np.where(enough, spread, square[:, sampled])
    n /= np.maximum(_crowding(seen, answers, crowding) / phi, 1.0)
    total, squares = n * np.nan_to_num(mean), n * np.nan_to_num(square)
    means = Counts(n, total, squares, plain.failed, plain.absent)
    return Measure(plain, means, kinds, share)


def _crowding(seen: Floats, answers: Floats, crowding: Floats) -> Floats:
    """How many answers share a question among those that were seen, at least 1.

    Of a sample, the questions are as much less crowded as it is smaller.
    """
    crowd = np.nan_to_num(ratio(crowding, answers), nan=1.0)
    share = np.minimum(np.nan_to_num(ratio(seen, answers), nan=1.0), 1.0)
    return np.asarray(1 + np.maximum(crowd - 1, 0.0) * share)
