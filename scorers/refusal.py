"""Refusal: did the answer refuse, wholly or in part?

    >>> from ragvigil import RagRecord
    >>> answer = "I'm sorry, I could not find that in the documents."
    >>> Refusal().score(RagRecord(record_id="1", trace_id="1", answer=answer)).label
    'refused'
    >>> from scorers.text.stance import classify
    >>> classify("The documents do not say who pays. Returns take 30 days from delivery.").label
    'partial'
    >>> classify('The page then shows "I cannot help you with that": press reload twice.').label
    'answered'

A label without a value: the rate of refusals is neither good nor bad by itself. *Refused*: the
answer declines or says that the information is missing, and states nothing else; apologies, offers,
advice where to look and questions do not count as statements. *Partial*: it does both; a caveat
behind an answer in full (*note that the passages give no exact time*) makes it no partial one.
A code word (`N/A`, `NO_ANSWER`) or a phrase without a verb (*Not mentioned in the context.*) at the
start refuses too. Quotations and code are not the answer's own words and are ignored. Sentences are
read by patterns of wordings, per language (`text/refusal_patterns.toml`; `text/denials.toml`: what
is denied, and of whom), and by a small model of the kinds of words that a refusal is made of
(`text/refusal_words`, `models/refusal.md`), which finds wordings that no pattern has.
"""

from __future__ import annotations

from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from scorers.text.stance import classify


class Refusal:
    """Scores `refusal`: a label, no value."""

    rubric = "refusal"

    def score(self, record: RagRecord) -> Score:
        """Labels the answer `refused`, `partial` or `answered`, and shows the refusing sentence."""
        if not record.answer or not record.answer.strip():
            return Score.not_applicable(self.rubric, "there is no answer")
        stance = classify(record.answer)
        reason = stance.refusing[0].text if stance.refusing else "no sentence refuses"
        return Score(rubric=self.rubric, label=stance.label, explanation=reason)
