"""Judged means since a time, by the sums that the deltas are estimated from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, astuple, dataclass, replace

from alerts.deltas.two_phase import TwoPhase, judged_mean
from alerts.deltas.windows import SUMS
from ragvigil.model.delta import Series
from ragvigil.model.score import Layer
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import estimate_sums
from ragvigil.store.scores.estimate_sums import BIN_SECONDS, CHEAP, EstimateSums, JudgedName


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesEstimate:
    """The judged mean of a series, with its interval.

    `records` counts the records that were judged or scored by a local model; `plain_mean` is the
    mean of the judged records alone.
    """

    series: Series
    records: int
    plain_mean: float
    estimate: TwoPhase


def estimates(store: Store, since: int, until: int) -> list[SeriesEstimate]:
    """Estimates the judged mean of every series by its newest judge, of whole five minutes.

    `since` and `until` are in seconds since the epoch. Raises StoreError.
    """
    read = estimate_sums.read(store, since - since % BIN_SECONDS, until)
    return list(_estimates(read))


def _estimates(read: EstimateSums) -> Iterator[SeriesEstimate]:
    for name in _newest(read):
        sums = read.judged[name].sums.sum(axis=0)
        cheap = read.judged.get(replace(name, segment=CHEAP))
        if cheap is not None:
            sums = sums + cheap.sums.sum(axis=0)
        estimate = judged_mean(sums)
        if estimate is not None:
            named = dict(zip(SUMS, sums.tolist(), strict=True))
            yield SeriesEstimate(
                series=Series(**asdict(name) | {"layer": Layer(name.layer)}),
                records=round(named["cheap"] + named["sampled"] - named["paired"]),
                plain_mean=named["total"] / named["n"],
                estimate=estimate,
            )


def _newest(read: EstimateSums) -> list[JudgedName]:
    """The newest version of each judge: verdicts of others are not mixed in."""
    last = {
        name: int(bins.start[-1])
        for name, bins in read.judged.items()
        if name.segment != CHEAP and ":" not in name.rubric
    }
    newest: dict[JudgedName, JudgedName] = {}
    for name in sorted(last, key=last.__getitem__):
        newest[replace(name, segment=CHEAP)] = name
    return sorted(newest.values(), key=astuple)
