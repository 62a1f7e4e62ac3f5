"""The judge of `ragvigil evaluate`: says what it will cost, then asks it beside the scorers."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ragvigil.app.cli.input.options import stop

if TYPE_CHECKING:
    from ragvigil.app.settings import Settings
    from ragvigil.evaluation.cache import Replies
    from ragvigil.evaluation.case import Case
    from ragvigil.evaluation.judging.case_judge import CaseJudge


@contextmanager
def opened_judge(
    settings: Settings, cases: Sequence[Case], replies: Replies, *, wanted: bool | None
) -> Iterator[CaseJudge | None]:
    """The judge of the settings; None where none is wanted.

    If nobody said whether one is, it is asked where it can be; `wanted` and impossible ends the
    command. `cases` are those that will be asked, again for each condition.
    """
    if wanted is False or (wanted is None and not settings.judge.model):
        yield None
        return
    from ragvigil.evaluation.judging.case_judge import NoJudge, judging

    with ExitStack() as stack:
        try:
            judge = stack.enter_context(
                judging(settings.judge, cases, replies.cache.parent, is_fresh=replies.is_fresh)
            )
        except NoJudge as error:
            if wanted:
                stop(f"--judge: {error}")
            _say(f"without the judge: {error}")
            yield None
            return
        _say(_cost(settings, cases))
        yield judge
        if judge.missing:
            reasons = ", ".join(f"{n} {name}" for name, n in judge.missing.most_common())
            _say(f"verdicts that the judge did not give: {reasons}")


def _cost(settings: Settings, cases: Sequence[Case]) -> str:
    from ragvigil.evaluation.judging.cost import run_cost
    from ragvigil.llm.settings import price_of

    price = price_of(settings.judge, datetime.now(UTC).date())
    return run_cost(cases, settings.judge, price).sentence(settings.judge.model)


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr)
