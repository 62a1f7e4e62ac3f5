"""Replies that are about an answer: a grade, follow-up questions, a title. The user reads another.

Services have a model check or continue what another model wrote. The later prompt holds the whole
answer, and so does that of a model that translates or revises it: only the reply tells them apart.
A short answer looks like a grade; what it was made of is no answer, but a rewritten question, an
extract or a part: each stands elsewhere in the prompt, or was written at another time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from collector.claims.field_names import Kind, kind_of_name
from collector.claims.payload import is_json_answer, unfenced
from collector.claims.prompt_chunks import begins_field
from collector.claims.prompt_fields import REASONING
from collector.claims.recover import as_container
from collector.record.calls import prompt_texts, reply_text, turn_texts, unwrapped
from collector.record.tree import Node
from collector.record.words import have_common, words

VERDICT_WORDS = 3
"""Most words of a grade: "yes", "not grounded", "Score: 4"."""
REASONING_REACH = 30
LEAST_WORDS = 3
"""Words; a shorter text stands in any prompt by chance."""
TITLE_WORDS = 10
TITLE = re.compile(
    r"\b(?:title|titel|titre|t[ií]tulo|titolo|tytuł|headline|subject line)\b"
    r"(?![ \t]*[:=][ \t]*\S)"  # a chunk's own title
    r"|заголов|标题|標題|タイトル|件名|제목|ชื่อเรื่อง",
    re.I,
)
REASONS = re.compile(r"reason|rational|expla|justif|comment|feedback|thought|critique", re.I)
SENTENCE_ENDS = (".", "!", "?", "。", "？", "！", "؟")
QUESTION_ENDS = ("?", "？", "؟")
SENTENCE_END = re.compile(r"[.!。！][\s\"')]|\n")
DEPTH = 4
MOST_COMPARED = 500_000
"""Pairs of a remark and an earlier reply, about two seconds' work."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A reply that may be the answer."""

    model: Node
    text: str
    is_long: bool


def without_remarks(models: Sequence[Node], searched: int = 0) -> list[Node]:
    """The models without those at the end whose replies are about an earlier model's reply.

    What was written before the first search is no answer, and a question is none.
    """
    left = list(models)
    drafts = _drafts([model for model in models if model.end > searched])
    compared = 0
    while len(left) > 1 and compared <= MOST_COMPARED:
        if drafts and drafts[-1].model is left[-1]:
            drafts.pop()
        if not (_is_remark(left[-1], drafts) or _ran_beside(left[-1], drafts, searched)):
            break
        left.pop()
        compared += len(drafts)
    return left


def _drafts(models: Sequence[Node]) -> list[Draft]:
    """The replies that may be answers; of short ones that say the same, as grades do, the first."""
    drafts: list[Draft] = []
    short: set[str] = set()
    for model in models:
        text = unwrapped(reply_text(model)).strip()
        if text and text not in short and not _is_question(text):
            drafts.append(Draft(model, text, len(words(text)) >= LEAST_WORDS))
            short.update(() if drafts[-1].is_long else (text,))
    return drafts


def _is_remark(model: Node, drafts: Sequence[Draft]) -> bool:
    reply = reply_text(model).strip()
    # Most replies have no shape of a remark: their prompts are not searched.
    graded = [draft for draft in drafts if is_verdict(reply, draft.text)]
    is_line = _is_line(reply)
    titled = [draft for draft in drafts if is_line and len(reply) < len(draft.text) / 2]
    asks = _asks(reply)
    if not reply or not (graded or titled or asks):
        return False
    # An answer among the messages may be that to an earlier question; a grade is given at once.
    turn = "\n".join(turn_texts(model))
    if _is_about(graded, drafts, turn):
        return True
    continued = drafts if asks else titled if TITLE.search(turn) else []
    prompt = "\n".join(prompt_texts(model)) if continued else ""
    return _is_about(continued, drafts, prompt)


def _ran_beside(model: Node, drafts: Sequence[Draft], searched: int) -> bool:
    """Whether a reply was written beside the answer: a guard's of the question, or a title's."""
    reply = reply_text(model).strip()
    beside = [draft for draft in drafts if model.start < draft.model.end]
    if not reply or not beside:
        return False
    is_short = len(words(reply)) <= VERDICT_WORDS
    own = prompt_texts(model)
    informed = (draft for draft in beside if draft.model.start >= searched)
    if any(
        (is_short or is_verdict(reply, draft.text))
        and (model.start < searched or _is_shown_more(draft.model, own))
        for draft in informed
    ):
        return True
    is_title = _is_line(reply) and len(reply) < len(beside[-1].text) / 2
    return is_title and TITLE.search("\n".join(turn_texts(model))) is not None


def _is_shown_more(model: Node, own: Sequence[str]) -> bool:
    """Whether a model was shown much more than another prompt holds: chunks beside a question."""
    return sum(map(len, prompt_texts(model))) > 2 * sum(map(len, own)) > 0


def _is_about(chosen: Sequence[Draft], drafts: Sequence[Draft], prompt: str) -> bool:
    """Whether a prompt shows one of the chosen drafts, and what it shows is an answer.

    It is not where the context or the question begins with it, or where the prompt shows drafts
    that were written apart: then the reply is made of them.
    """
    if not chosen:
        return False
    shown = searchable(prompt)
    short = {draft.text for draft in chosen if not draft.is_long}
    alone = {text for text in short if _stands_alone(prompt, text)}
    held = [draft for draft in drafts
            if (holds(shown, draft.text) if draft.is_long else draft.text in alone)]  # fmt: skip
    if not any(draft in chosen for draft in held):
        return False
    asked = prompt_texts(held[-1].model)
    read = searchable("\n".join(asked))
    are_apart = any(
        draft.is_long and prompt_texts(draft.model) != asked and not holds(read, draft.text)
        for draft in held[:-1]
    )
    text = held[-1].text
    return not are_apart and not begins_field(prompt, text) and not _is_reasoning(prompt, text)


def _is_reasoning(prompt: str, text: str) -> bool:
    """Whether a text stands behind a label such as `Reasoning:`: the answer comes after it."""
    at = max(prompt.find(text), 0)
    before = prompt[max(0, at - REASONING_REACH) : at].rstrip()
    return before.endswith((":", "：", ">")) and not REASONING.isdisjoint(words(before)[-1:])


def _stands_alone(prompt: str, text: str) -> bool:
    """Whether a text is a line of a prompt, or stands behind a label."""
    alone = rf"(?:^|[:：>])[ \t\"*]*{re.escape(text)}[ \t\"*]*(?:$|[<,}}])"
    return re.search(alone, prompt, re.MULTILINE) is not None


def _is_question(text: str) -> bool:
    """Whether a text is a question and nothing else, as models rewrite them for a search."""
    bare = text.strip("\"'*”“»« ")
    return bare.endswith(QUESTION_ENDS) and SENTENCE_END.search(bare) is None


def is_verdict(reply: str, answer: str) -> bool:
    """Whether a reply grades an answer: a few words that are not the answer's, or flags as JSON.

    >>> answer = "Within thirty days, to the card that was charged."
    >>> [is_verdict(reply, answer) for reply in ("yes", "Within thirty days.", "30 days")]
    [True, False, False]
    >>> is_verdict('{"grounded": true, "reason": "Each sentence is in the facts."}', answer)
    True
    """
    if is_json_answer(reply):
        members = _members(reply)
        return bool(members) and _are_flags(members, answer)
    return _is_grade(reply, answer)


@lru_cache(maxsize=4)  # a reply is compared with each earlier one
def _members(reply: str) -> Mapping[str, object]:
    container = as_container(unfenced(reply)).value
    return container if isinstance(container, dict) else {}


def _is_grade(text: str, answer: str) -> bool:
    """A few words, none of them the answer's: a shorter form of the answer has some of it."""
    own = words(text)
    is_short = 0 < len(own) <= VERDICT_WORDS and len(words(answer)) >= 3 * len(own)
    return is_short and not have_common(own, answer)


def _are_flags(value: object, answer: str, name: str = "", depth: int = DEPTH) -> bool:
    """Whether JSON holds only flags, numbers, questions, reasons, and parts of the answer."""
    if isinstance(value, Mapping):
        return depth > 0 and all(
            _are_flags(member, answer, str(key), depth - 1) for key, member in value.items()
        )
    if isinstance(value, list):
        return depth > 0 and all(_are_flags(entry, answer, name, depth - 1) for entry in value)
    if not isinstance(value, str):
        return True
    if _kind_of_name(name) is Kind.ANSWER:
        return _is_grade(value, answer)
    is_named = REASONS.search(name) is not None or TITLE.search(name) is not None
    is_short = len(words(value)) <= VERDICT_WORDS
    return is_named or is_short or value.strip().endswith(QUESTION_ENDS) or shows(answer, value)


_kind_of_name = lru_cache(maxsize=64)(kind_of_name)  # grades have the same few names


def _asks(reply: str) -> bool:
    """Whether a reply is a list of questions; a single one may ask the user something."""
    lines = [line.strip(" *_\"'”»") for line in reply.splitlines() if line.strip()]
    if lines and lines[0].endswith((":", "：")):
        lines = lines[1:]
    return len(lines) > 1 and all(line.endswith(QUESTION_ENDS) for line in lines)


def _is_line(reply: str) -> bool:
    """Whether a reply could be a title, by its form."""
    is_open = "\n" not in reply and "[" not in reply and not reply.endswith(SENTENCE_ENDS)
    return is_open and len(words(reply)) <= TITLE_WORDS


def shows_answer(prompt: str, answer: str) -> bool:
    """Whether a text holds an answer; a short one must be a line of it, or stand behind a label.

    >>> shows_answer("How many live in Paris?", "Paris"), shows_answer("Answer: Paris", "Paris")
    (False, True)
    """
    is_long = len(words(answer)) >= LEAST_WORDS
    return shows(prompt, answer) if is_long else _stands_alone(prompt, answer.strip())


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
