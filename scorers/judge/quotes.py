"""The share of a judge's quotes that are not in the record: counted, and warned about."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import structlog

from ragvigil.model.score import Score
from scorers.judge import metrics
from scorers.judge.verdicts import DOWNGRADED, QUOTES

log = structlog.get_logger()

WARNED_SHARE = 0.2
LEAST_QUOTES, RECENT_QUOTES = 20, 500
"""The share is that of the newest quotes; of fewer than the least it says nothing."""
WAY_OUT = (
    "take a model that copies words exactly, and answers in the language of the texts; "
    "[judge] strict_quotes = true counts such verdicts as unproven instead"
)


class QuoteTally:
    """Counts the quotes of one judge, `model`; written by one thread, read by any."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._recent: deque[bool] = deque(maxlen=RECENT_QUOTES)
        self._is_warned = False

    def add(self, scores: Iterable[Score]) -> None:
        """Counts the quotes of these scores, and logs when their share becomes too high, or ends.

        Scores that are derived from another score's grades hold no counts of their own.
        """
        for score in scores:
            quotes, missed = (int(str(score.details.get(name, 0))) for name in (QUOTES, DOWNGRADED))
            found = quotes - missed
            judge = f"{score.scorer} v{score.version}"
            metrics.QUOTES.labels(score.rubric, judge, "found").inc(found)
            metrics.QUOTES.labels(score.rubric, judge, "not_found").inc(missed)
            self._recent.extend([False] * found + [True] * missed)
        self._warn()

    def status(self) -> dict[str, object]:
        """Quotes, and those not found, of the newest RECENT_QUOTES."""
        recent = list(self._recent)
        share = f" ({sum(recent) / len(recent):.0%})" if recent else ""
        return {"quotes": len(recent), "quotes_not_found": f"{sum(recent)}{share}"}

    def warning(self) -> str:
        """A line while too many quotes are not found, with the way out; else empty."""
        recent = list(self._recent)
        if len(recent) < LEAST_QUOTES or sum(recent) < WARNED_SHARE * len(recent):
            return ""
        return (
            f"{self._model} misquotes: {sum(recent)} of its last {len(recent)} quotes are not in "
            f"the text that they are to prove, so those verdicts are not accepted; {WAY_OUT}"
        )

    def _warn(self) -> None:
        warning = self.warning()
        if warning and not self._is_warned:
            log.warning("the judge misquotes", reason=warning)
        elif self._is_warned and not warning:
            log.info("the judge quotes correctly again", model=self._model)
        self._is_warned = bool(warning)
