"""Answer language: is the answer in the language of its question?

    >>> from ragvigil import RagRecord
    >>> answer = "Das Paket wird am nächsten Werktag von unserem Lager verschickt."
    >>> question = "When will the parcel that I ordered be sent to me?"
    >>> asked = RagRecord(record_id="1", trace_id="1", query=question, answer=answer)
    >>> score = AnswerLanguage().score(asked)
    >>> score.value, score.label, score.explanation
    (0.0, 'other_language', 'the answer is in de, the question in en')
    >>> AnswerLanguage(["de"]).score(asked).value
    1.0

1 = in the language of the question, 0 = in another. Where `[scorers.answer_language] languages`
names the languages of the service, a question in none of these may be answered in any of them, and
an answer in none of them scores 0 whatever the question. Languages that a detector confuses
count as one (`text/languages.toml`). Not applicable: an answer of fewer than 8 words of running
text, a language that is not sure, an answer in both languages, a question that asks for
a translation.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Self

from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from scorers.settings import ScorersSettings
from scorers.text.language import (
    are_alike,
    asks_for_another,
    language,
    share_in,
)

LEAST_WORDS = 8
"""Least words of running text of an answer whose language is judged."""
MIXED_SHARE = 0.2
"""An answer with this share of its words in sentences of the expected language is in several."""


class AnswerLanguage:
    """Scores `answer_language`; `languages` are codes of the service's own, if it has any."""

    rubric = "answer_language"

    def __init__(self, languages: Collection[str] = ()) -> None:
        self._languages = tuple(languages)

    @classmethod
    def from_settings(cls, settings: ScorersSettings) -> Self:
        """With the languages that the settings name."""
        return cls(settings.answer_language.languages)

    def score(self, record: RagRecord) -> Score:
        """Scores 1 for an answer in a language that its reader expects, else 0."""
        if not record.answer or not record.answer.strip():
            return self._none("there is no answer")
        answer = language(record.answer, LEAST_WORDS)
        if answer is None:
            return self._none("the answer is too short, or its language not sure")
        query = record.query or ""
        question = language(query)
        if question is not None and are_alike(answer, question):
            return self._whole(f"answer and question are in {answer}")
        if self._is_own(answer) and not (question and self._is_own(question)):
            return self._whole(f"the answer is in {answer}, a language of the service")
        if question is None and not self._languages:
            absent = "query" if "query" in record.absent else ""
            return self._none("the language of the question is not sure", absent)
        return self._other(record.answer, answer, query, question)

    def _other(self, text: str, answer: str, query: str, question: str | None) -> Score:
        """The score of an answer that is in none of the expected languages, as far as it seems."""
        if asks_for_another(query):
            return self._none("the question names a language")
        is_own = question is not None and self._is_own(question)
        expected = () if is_own else self._languages
        if question is not None:
            expected = (question, *expected)
        if any(share_in(text, code) >= MIXED_SHARE for code in expected):
            return self._none("the answer is in several languages")
        if share_in(query, answer):
            return self._none("the question is in several languages")
        rest = f"the question in {question}" if question else f"not in {' or '.join(expected)}"
        return Score(
            rubric=self.rubric,
            value=0.0,
            label="other_language",
            explanation=f"the answer is in {answer}, {rest}",
        )

    def _is_own(self, code: str) -> bool:
        return any(are_alike(code, own) for own in self._languages)

    def _whole(self, reason: str) -> Score:
        return Score(rubric=self.rubric, value=1.0, explanation=reason)

    def _none(self, reason: str, absent: str = "") -> Score:
        return Score.not_applicable(self.rubric, reason, absent=absent)
