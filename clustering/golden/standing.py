"""Whether a case that passed fails again, or only now and then, by its newest runs. Pure.

A model may fail a case by chance. A case without such a past fails again after four failures in a
row; one that is known to fail now and then, after six. A case that fails one run in five makes six
in a row in one of fifteen thousand tries.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import groupby

from ragvigil.model.golden import CaseRun

LOOKED_AT = 20
"""Newest runs that count."""
IN_A_ROW, IN_A_ROW_IF_FLAKY = 4, 6


class Standing(StrEnum):
    """What the runs of a case say of it."""

    STEADY = "steady"
    FLAKY = "flaky"
    """It failed between runs that passed, and does not fail in a row now."""
    FAILS_AGAIN = "fails_again"


def standing(runs: Sequence[CaseRun]) -> Standing:
    """The standing of a case that has passed, by its newest runs, newest first.

    Runs that could not decide say nothing.
    """
    streaks = _streaks(runs)
    if streaks and not streaks[0][0] and streaks[0][1] >= _in_a_row(streaks):
        return Standing.FAILS_AGAIN
    return Standing.FLAKY if _is_flaky(streaks) else Standing.STEADY


def is_settled(runs: Sequence[CaseRun]) -> bool:
    """Whether the newest run says enough: it passed, or failed often enough in a row."""
    streaks = _streaks(runs)
    return not streaks or streaks[0][0] or streaks[0][1] >= _in_a_row(streaks)


def _streaks(runs: Sequence[CaseRun]) -> list[tuple[bool, int]]:
    """Runs in a row with the same end, newest first."""
    decided = [run.is_pass for run in runs[:LOOKED_AT] if run.is_pass is not None]
    return [(is_pass, len(list(group))) for is_pass, group in groupby(decided)]


def _in_a_row(streaks: Sequence[tuple[bool, int]]) -> int:
    return IN_A_ROW_IF_FLAKY if _is_flaky(streaks) else IN_A_ROW


def _is_flaky(streaks: Sequence[tuple[bool, int]]) -> bool:
    """Whether it failed a little between runs that passed; longer failures had a cause."""
    between = streaks[1:-1]
    return any(not is_pass and n < IN_A_ROW for is_pass, n in between)
