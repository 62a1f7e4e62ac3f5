"""Answer complete: is there a text, and did it end, or was it cut by a limit or a broken stream?

    >>> from ragvigil import RagRecord
    >>> cut = "Refunds take 5 to 7 days. Store credit is issued imm"
    >>> score = AnswerCompleteText().score(RagRecord(record_id="1", trace_id="1", answer=cut))
    >>> score.value, score.label
    (0.0, 'truncated')

1 = complete, 0 = cut (`truncated`) or without any text (`empty`). An unknown answer is neither. The
provider's finish reason decides where it is known. Without one, the end of the text decides
(`text/endings.py`). Source of the method: rules of this project.
"""

from __future__ import annotations

from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from scorers.text.endings import why_unfinished

CUT_REASONS = frozenset(
    {
        "length",
        "max_tokens",
        "max_output_tokens",
        "model_length",
        "token_limit",
        "max_completion_tokens",
    }
)
WHOLE_REASONS = frozenset(
    {"stop", "end_turn", "stop_sequence", "eos", "complete", "completed", "eos_token"}
)


class AnswerCompleteText:
    """Scores `answer_complete_text`."""

    rubric = "answer_complete_text"

    def score(self, record: RagRecord) -> Score:
        """Scores 1 for a whole answer, 0 with a label for one that is cut or empty."""
        if record.answer is None:
            return Score.not_applicable(self.rubric, "there is no answer")
        if not record.answer.strip():
            reason = _why_empty(record.dimensions.finish_reason)
            return Score(rubric=self.rubric, value=0.0, label="empty", explanation=reason)
        reason = why_cut(record)
        if reason:
            return Score(rubric=self.rubric, value=0.0, label="truncated", explanation=reason)
        return Score(rubric=self.rubric, value=1.0, explanation="the answer ends as a whole text")


def _why_empty(finish_reason: str) -> str:
    return "the answer has no text" + (finish_reason and f" (finish reason {finish_reason})")


def is_cut(record: RagRecord) -> bool:
    """Whether the answer stops before its end."""
    return bool(record.answer) and bool(why_cut(record))


def why_cut(record: RagRecord) -> str:
    """The reason why an answer counts as cut; empty for a whole answer."""
    finish = record.dimensions.finish_reason.lower().rpartition(".")[2]
    if finish in CUT_REASONS:
        return f"the model stopped at its token limit (finish reason {finish})"
    if record.error:
        return "the answer ends in an error"
    if finish in WHOLE_REASONS:
        return ""
    return why_unfinished(record.answer or "")
