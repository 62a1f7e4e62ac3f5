"""What a golden case shows of the answer that it was made from."""

from __future__ import annotations

from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from ragvigil.web.views.cases.evidence import failures
from tests.answers import record_form


def test_what_did_not_reach_the_prompt_is_nothing_that_the_answer_failed() -> None:
    scores = [
        Score(rubric="citation_validity", value=0.0, label="quote_not_found"),
        Score(rubric="injected_context", value=0.0, label="override,outside_prompt"),
    ]
    bars = {score.rubric: 1.0 for score in scores}
    source = record_form(RagRecord(record_id="1", trace_id="1"), scores, bars)
    assert [(each.rubric, each.why) for each in failures(source)] == [
        ("citation_validity", "quote_not_found")
    ]
