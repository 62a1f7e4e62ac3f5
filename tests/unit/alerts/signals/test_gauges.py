"""The newest values of the signals, for gauges."""

from __future__ import annotations

import numpy as np

from alerts.signals.gauges import SignalReading, readings
from alerts.signals.minutes import MINUTE, SignalMinutes
from ragvigil.model.delta import Series
from ragvigil.model.score import Layer
from ragvigil.store.watch.signals import Sums

END = 1_767_225_600


def sums(minutes_ago: int, n: float, total: float, segment: str = "1") -> Sums:
    series = Series(
        service="desk", environment="prod", route="/a", rubric="refusal:refused",
        layer=Layer.GENERATION, segment=segment,
    )  # fmt: skip
    return Sums(
        start=np.array([END - minutes_ago * MINUTE]),
        index=np.array([0]),
        series=[series],
        n=np.array([n]),
        total=np.array([total]),
        squares=np.array([total]),
    )


def table(*given: Sums) -> SignalMinutes:
    made = SignalMinutes()
    made.advance(END)
    made.put_minutes(given, {int(sums_of_series.start[0]) for sums_of_series in given})
    return made


def test_a_share_is_that_of_the_last_minutes_over_all_segments() -> None:
    of = table(sums(1, 10, 5), sums(15, 20, 1, segment="2"), sums(16, 99, 99))
    assert readings(of) == (
        SignalReading(
            service="desk", environment="prod", route="/a", signal="refusal:refused", value=0.2
        ),
    )


def test_a_signal_of_which_nothing_was_seen_has_no_reading() -> None:
    assert readings(table(sums(16, 99, 99))) == ()
    assert readings(SignalMinutes()) == ()
