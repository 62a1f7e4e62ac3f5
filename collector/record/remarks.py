"""Replies that are about an answer: a grade, follow-up questions, a title. The user reads another.

Services have a model check or continue what another model wrote. The later prompt holds the whole
answer, and so does that of a model that translates or revises it: only the reply tells them apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from collector.claims.field_names import Kind, kind_of_name
from collector.claims.payload import is_json_answer, unfenced
from collector.claims.recover import as_container
from collector.record.calls import prompt_texts, reply_text, turn_texts
from collector.record.tree import Node
from collector.record.words import have_common, words

VERDICT_WORDS = 3
"""Most words of a grade: "yes", "not grounded", "Score: 4"."""
TITLE_WORDS = 10
TITLE = re.compile(
    r"\b(?:title|titel|titre|t[ií]tulo|titolo|tytuł|headline|subject line)\b"
    r"|заголов|标题|標題|タイトル|件名|제목|ชื่อเรื่อง",
    re.I,
)
REASONS = re.compile(r"reason|rational|expla|justif|comment|feedback|thought|critique", re.I)
SENTENCE_ENDS = (".", "!", "?", "。", "？", "！", "؟")
QUESTION_ENDS = ("?", "？", "؟")
DEPTH = 4


def without_remarks(models: Sequence[Node]) -> list[Node]:
    """The models without those at the end whose replies are about an earlier model's reply."""
    left = list(models)
    while len(left) > 1 and _is_remark(left[-1], left[:-1]):
        left.pop()
    return left


def _is_remark(model: Node, earlier: Sequence[Node]) -> bool:
    reply = reply_text(model).strip()
    answers = [answer for other in earlier if (answer := reply_text(other).strip())]
    # Most replies have no shape of a remark: their prompts are not searched.
    graded = [answer for answer in answers if is_verdict(reply, answer)]
    titled = [answer for answer in answers if _is_title(reply, answer)]
    asks = _asks(reply)
    if not reply or not (graded or titled or asks):
        return False
    # An answer among the messages may be that to an earlier question; a grade is given at once.
    turn = "\n".join(turn_texts(model))
    shown = searchable(turn)
    if any(holds(shown, answer) for answer in graded):
        return True
    continued = answers if asks else titled if TITLE.search(turn) else []
    prompt = searchable("\n".join(prompt_texts(model))) if continued else shown
    return any(holds(prompt, answer) for answer in continued)


def is_verdict(reply: str, answer: str) -> bool:
    """Whether a reply grades an answer: a few words that are not the answer's, or flags as JSON.

    >>> answer = "Within thirty days, to the card that was charged."
    >>> [is_verdict(reply, answer) for reply in ("yes", "Within thirty days.", "30 days")]
    [True, False, False]
    >>> is_verdict('{"grounded": true, "reason": "Each sentence is in the facts."}', answer)
    True
    """
    if is_json_answer(reply):
        container = as_container(unfenced(reply)).value
        return isinstance(container, dict) and bool(container) and _are_flags(container, answer)
    return _is_grade(reply, answer)


def _is_grade(text: str, answer: str) -> bool:
    """A few words, none of them the answer's: a shorter form of the answer has some of it."""
    own = words(text)
    is_short = 0 < len(own) <= VERDICT_WORDS and len(words(answer)) >= 3 * len(own)
    return is_short and not have_common(own, answer)


def _are_flags(value: object, answer: str, name: str = "", depth: int = DEPTH) -> bool:
    """Whether JSON holds only flags, numbers, questions, reasons, and parts of the answer."""
    if isinstance(value, dict):
        return depth > 0 and all(
            _are_flags(member, answer, str(key), depth - 1) for key, member in value.items()
        )
    if isinstance(value, list):
        return depth > 0 and all(_are_flags(entry, answer, name, depth - 1) for entry in value)
    if not isinstance(value, str):
        return True
    if kind_of_name(name) is Kind.ANSWER:
        return _is_grade(value, answer)
    is_named = REASONS.search(name) is not None or TITLE.search(name) is not None
    is_short = len(words(value)) <= VERDICT_WORDS
    return is_named or is_short or value.strip().endswith(QUESTION_ENDS) or shows(answer, value)


def _asks(reply: str) -> bool:
    """Whether a reply is a list of questions; a single one may ask the user something."""
    lines = [line.strip(" *_\"'”»") for line in reply.splitlines() if line.strip()]
    if lines and lines[0].endswith((":", "：")):
        lines = lines[1:]
    return len(lines) > 1 and all(line.endswith(QUESTION_ENDS) for line in lines)


def _is_title(reply: str, answer: str) -> bool:
    is_line = "\n" not in reply and "[" not in reply and not reply.endswith(SENTENCE_ENDS)
    return is_line and len(words(reply)) <= TITLE_WORDS and len(reply) < len(answer) / 2


def shows(prompt: str, reply: str) -> bool:
    """Whether a text holds the whole of another, whatever its spaces are, plain or in JSON.

    >>> shows('{"answer": "Within\\n30 days."}', "Within 30 days."), shows("", "")
    (True, False)
    """
    return holds(searchable(prompt), reply)


def searchable(prompt: str) -> tuple[str, str]:
    """A text as `holds` searches it: worked out once for a text that is searched often."""
    plain = _squeezed(prompt)
    unescaped = prompt.replace("\\n", "\n").replace('\\"', '"').replace("\\t", "\t")
    return plain, plain if unescaped == prompt else _squeezed(unescaped)


def holds(forms: tuple[str, str], reply: str) -> bool:
    """Whether a searchable text holds another."""
    wanted = _squeezed(reply)
    return bool(wanted) and any(wanted in form for form in forms)


def _squeezed(text: str) -> str:
    return " ".join(text.split())
