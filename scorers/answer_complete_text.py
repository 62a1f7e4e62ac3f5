"""Answer complete: is there a text, and did it end, or was it cut by a limit or a broken stream?

    >>> from ragvigil import RagRecord
    >>> cut = "Refunds take 5 to 7 days. Store credit is issued imm"
    >>> score = AnswerCompleteText().score(RagRecord(record_id="1", trace_id="1", answer=cut))
    >>> score.value, score.label
    (0.0, 'truncated')

1 = complete, 0 = cut (`truncated`) or without any text (`empty`). An unknown answer is neither. The
provider's finish reason decides where it is known. Without one, the text decides: it is cut if a
code fence or JSON document stays open, or if the last sentence stops in the
middle. Source of the method: rules of this project.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score

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
STOPS = ".!?…。！？｡।॥؟۔։።‽"
SUPERSCRIPTS = "¹²³⁴⁵⁶⁷⁸⁹⁰"
# Searched for in a whole answer or a whole line, which may be a megabyte without a space or of
# newlines: each reads a character once.
_LIST_LINE = re.compile(r"^\s*(?:[-*•·–|#>]|\d+[.)])")
_FENCE = re.compile(r"^[^\S\n]*(?:```|~~~)", re.MULTILINE)
_ADDRESS = re.compile(r"https?://\S")
_WORD = re.compile(r"\w+")
_SPACE = "".join(filter(str.isspace, map(chr, range(0x3001))))
_BEHIND = "\"'”’»)]}」』*_`~|>" + _SPACE
"""What may stand behind the full stop, digit or superscript that closes a line."""
_CLOSING = frozenset(STOPS + ':]】)}>|`»”"」』')
"""Last characters that close a line by themselves."""
_CLOSING_BEFORE = frozenset(STOPS + ":" + SUPERSCRIPTS)
LEAST_WORDS = 4
"""A shorter last line without a full stop counts as a signature, a label or a short answer."""


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
    return _unfinished(record.answer or "")


@lru_cache(maxsize=512)
def _unfinished(answer: str) -> str:
    """Why a text counts as cut, or "". Caches the last 512: several scorers check an answer."""
    text = answer.rstrip()
    if len(_FENCE.findall(text)) % 2:
        return "a code block is not closed"
    if text.startswith(("{", "[{")) and not text.endswith(("}", "]")):
        return "a JSON document is not closed"
    *before, last = text.splitlines() or [""]
    if _is_closed(last) or not any(stop in text for stop in STOPS):
        return ""
    fragment = re.split(rf"[{STOPS}]", last)[-1]
    is_list = bool(_LIST_LINE.match(last)) and not fragment.rstrip().endswith((",", "-"))
    if is_list and any(not _is_closed(line) for line in before if _LIST_LINE.match(line)):
        return ""  # the other items have no full stop either
    if len(_WORD.findall(fragment)) < LEAST_WORDS and not is_list and fragment == last:
        return ""
    return f"the last sentence stops in the middle: …{fragment.strip()[-40:]}"


def _is_closed(line: str) -> bool:
    """Whether a line ends as a whole: with a full stop, a bracket, a number or an address.

    >>> [_is_closed(line) for line in ("In 5 days.*)", "See a@b.example", "Store credit is imm")]
    [True, True, False]
    """
    if line.rstrip()[-1:] in _CLOSING:
        return True
    last = line.rstrip(_BEHIND)[-1:]
    if last in _CLOSING_BEFORE or last.isdecimal():
        return True
    word = "" if line[-1:].isspace() else ["", *line.rsplit(maxsplit=1)][-1]
    return "@" in word[1:-1] or _ADDRESS.search(word) is not None
