"""The core says how far it is behind, and for how long, from the pace that it has."""

from __future__ import annotations

from ragvigil.app.pipeline.catch_up import CatchUp, Lag


def said(catch_up: CatchUp) -> str:
    return "" if catch_up.lag is None else str(catch_up.lag)


def test_what_waited_at_the_start_is_read_back_at_the_pace_of_this_life() -> None:
    catch_up = CatchUp(48_033, is_behind=True)
    assert said(catch_up) == "reading back: 48,033 spans to go"
    for second in range(11):
        catch_up.update(
            100.0 + second, done=1_000 * second, to_go=48_033 - 1_000 * second, is_behind=True
        )
    assert said(catch_up) == "reading back: 38,033 spans to go, about 40 s"


def test_what_comes_in_meanwhile_waits_behind_it() -> None:
    catch_up = CatchUp(10_000, is_behind=True)
    for second in range(11):
        catch_up.update(
            100.0 + second, done=100 * second, to_go=10_000 + 400 * second, is_behind=True
        )
    assert said(catch_up) == "reading back: 14,000 spans to go, about 2 min"


def test_once_read_back_it_is_never_again_a_restart() -> None:
    catch_up = CatchUp(10_000, is_behind=True)
    catch_up.update(100.0, done=0, to_go=10_000, is_behind=True)
    catch_up.update(104.0, done=9_000, to_go=1_000, is_behind=False)
    assert catch_up.lag is None
    catch_up.update(108.0, done=18_000, to_go=9_000, is_behind=True)
    assert said(catch_up) == "behind: 9,000 spans to go, about 10 s"


def test_a_few_waiting_spans_are_no_news() -> None:
    catch_up = CatchUp(500, is_behind=False)
    catch_up.update(100.0, done=0, to_go=1_500, is_behind=False)
    assert catch_up.lag is None


def test_no_time_is_told_while_nothing_gets_done() -> None:
    catch_up = CatchUp(10_000, is_behind=True)
    for second in range(40):
        catch_up.update(100.0 + second, done=0, to_go=10_000, is_behind=True)
    assert catch_up.lag == Lag(spans=10_000, is_restart=True)


def test_a_pace_that_nobody_can_tell_yet_may_take_long() -> None:
    assert Lag(spans=5_000).is_over(7.0)
    assert Lag(spans=5_000, seconds=8.0).is_over(7.0)
    assert not Lag(spans=5_000, seconds=6.0).is_over(7.0)
