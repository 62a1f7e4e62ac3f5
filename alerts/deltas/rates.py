"""Labels as series: the rate of a label, and the share of records that fail. Pure.

A rate is a mean of zeros and ones, so it has windows, baselines and intervals like any score. Its
series is named `<rubric>:<label>`; its denominator is every record that the rubric gave a value
or a label.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from alerts.deltas.windows import Floats, Rollups
from ragvigil.model.delta import Series

FAILED = "failed"


def with_rates(
    rollups: Rollups,
    labels: Mapping[tuple[int, str], Floats],
    *,
    wanted: Sequence[str],
    failing: Collection[str],
) -> Rollups:
    """Returns the roll-ups with one more series for every wanted rate.

    `labels` holds the records per bin by position of the series and label. `wanted` are names of
    the form `rubric:label`, where `*:failed` stands for every rubric in `failing`: those that a
    record can fail.
    """
    series: list[Series] = []
    counts: list[Floats] = []
    for position, each in enumerate(rollups.series):
        own = rollups.counts[:, :, position]
        total = own[0] if own[0].any() else _all_labels(labels, position, own[0])
        for label in _labels_of(each.rubric, wanted, failing):
            hits = (
                own[3] if label == FAILED else labels.get((position, label), np.zeros(len(own[0])))
            )
            series.append(replace(each, rubric=f"{each.rubric}:{label}"))
            bad = hits if label == FAILED else np.zeros(len(hits))
            # Zeros and ones: the sum and the sum of squares are both the number of hits.
            counts.append(np.stack([total, hits, hits, bad, own[4]]))
    if not series:
        return rollups
    more = np.stack(counts, axis=2)
    return Rollups(
        series=(*rollups.series, *series),
        start=rollups.start,
        counts=np.concatenate([rollups.counts, more], axis=2),
    )


def _all_labels(labels: Mapping[tuple[int, str], Floats], position: int, like: Floats) -> Floats:
    """Counts records with any label: the denominator of a rubric that gives labels only."""
    total = np.zeros(len(like))
    for (place, _), counts in labels.items():
        if place == position:
            total += counts
    return total


def _labels_of(rubric: str, wanted: Sequence[str], failing: Collection[str]) -> list[str]:
    """Returns the labels of a rubric that are followed, each once.

    >>> wanted = ("refusal:refused", "*:failed", "citation_validity:failed")
    >>> _labels_of("citation_validity", wanted, {"citation_validity"})
    ['failed']
    >>> _labels_of("refusal", wanted, {"citation_validity"})
    ['refused']
    """
    named = [rate.partition(":")[::2] for rate in wanted]
    matches = [
        label
        for name, label in named
        if name == rubric or (name == "*" and label == FAILED and rubric in failing)
    ]
    return list(dict.fromkeys(matches))
