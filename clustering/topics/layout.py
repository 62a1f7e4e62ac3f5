"""Where topics lie on a map of two dimensions: near ones near, the same every time. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def places(centroids: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """Positions (n, 2) of n centroids, each coordinate within -1 to 1.

    They are the two directions in which the centroids differ most (principal components), each
    turned so that the largest coordinate is positive: a decomposition leaves the sign open. A
    single topic, and one without a centroid, lies in the middle.

    >>> places([(2.0, 0.0), (0.0, 1.0), (0.0, 1.0)]).round(1)[:, 0].tolist()
    [1.0, -0.5, -0.5]
    """
    width = max(map(len, centroids), default=0)
    known = [row for row, centroid in enumerate(centroids) if len(centroid) == width and width]
    found = np.zeros((len(centroids), 2))
    if len(known) < 2:
        return found
    vectors = np.array([centroids[row] for row in known], float)
    left, strengths, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    axes = (left * strengths)[:, :2]
    furthest = axes[np.abs(axes).argmax(axis=0), range(axes.shape[1])]
    found[known, : axes.shape[1]] = axes / np.where(np.abs(furthest) > 1e-9, furthest, 1.0)
    return found
