"""Quantiles of Student's t. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def student(freedom: NDArray[np.float64]) -> NDArray[np.float64]:
    """Quantile 0.975 of Student's t, within 1 % from 3 degrees of freedom (Cornish-Fisher).

    >>> student(np.array([3.0, 10.0, 1e9])).round(2).tolist()
    [3.16, 2.23, 1.96]
    """
    z = 1.959964
    nu = np.maximum(freedom, 1.0)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return np.asarray(z + sum(term / nu ** (i + 1) for i, term in enumerate(terms)))
