"""An answer as a card: another answer beside the one that is read. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ragvigil.web.views.answer_text import AnswerText, answer_text, shortened
from ragvigil.web.views.answers.related import VERSIONS, RelatedForm, change_words
from ragvigil.web.views.records import RecordForm
from ragvigil.web.views.verdict.answer_verdict import AnswerVerdict

MOST = 400
"""Characters of an answer on a card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCard:
    """An answer in short; `heading` is why it is shown, `change` what differs from the other."""

    trace_id: str
    record_id: str
    time: datetime
    question: str
    text: AnswerText
    verdict: AnswerVerdict
    version: str
    heading: str = ""
    change: str = ""


def answer_card(record: RecordForm, *, heading: str = "", change: str = "") -> AnswerCard:
    """The card of a record."""
    return AnswerCard(
        trace_id=record.trace_id,
        record_id=record.record_id,
        time=record.time,
        question=record.query or "",
        text=shortened(answer_text(record), MOST),
        verdict=record.verdict,
        version=version_words(record),
        heading=heading,
        change=change,
    )


def version_words(record: RecordForm) -> str:
    """What answered: the first version of prompt, model, index and release that is known."""
    named = ((word, record.dimensions.get(name)) for name, word in VERSIONS.items())
    return next((f"{word} {value}" for word, value in named if value), "")


def same_question_cards(record: RecordForm, related: RelatedForm) -> tuple[AnswerCard, ...]:
    """The same question before and after a change, as far as it was asked."""
    cards = []
    if related.before is not None:
        change = change_words(related.before, record)
        cards.append(answer_card(related.before, heading="Same question, before", change=change))
    if related.after is not None:
        change = change_words(record, related.after)
        cards.append(answer_card(related.after, heading="Same question, after", change=change))
    return tuple(cards)
