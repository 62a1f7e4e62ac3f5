"""Whole and cut answers, by the finish reason, else by the text."""

from __future__ import annotations

import pytest

from ragvigil.model.record import Dimensions, RagRecord
from scorers.answer_complete_text import AnswerCompleteText

WHOLE = (
    "Refunds take 5 to 7 days.", "5 to 7 business days", "Yes", "退款需要5到7天。",
    "वापसी में 5 दिन लगते हैं।",
    "الاسترداد خلال 5 أيام.", "返金は5日です。[refund-02]",
    "It takes 5 days. [refund-02]",
    "You need:\n- a receipt\n- the order number", "See https://shop.example/returns",
    "| fee | days |\n|---|---|\n| 4.90 | 5 |", "Use this:\n```sh\nship --free\n```", '{"days": 5}',
    "It takes “5 days.”",
)  # fmt: skip
CUT = (
    "Refunds take 5 to 7 days. Store credit is issued imm",
    "退款需要5到7天。商店积分将在24小时",
    "Use this:\n```sh\nship --free",
    '{"days": 5, "why": "the car',
    "You need three things. First, the receipt that came with the",
)


def scored(answer: str, **changes: str) -> tuple[float | None, str]:
    record = RagRecord(
        record_id="1",
        trace_id="1",
        answer=answer,
        error=changes.get("error"),
        dimensions=Dimensions(finish_reason=changes.get("finish_reason", "")),
    )
    score = AnswerCompleteText().score(record)
    return score.value, score.label


@pytest.mark.parametrize("answer", WHOLE)
def test_a_whole_answer_is_not_called_cut(answer: str) -> None:
    assert scored(answer) == (1.0, "")


@pytest.mark.parametrize("answer", CUT)
def test_a_cut_answer_is_found_by_its_text(answer: str) -> None:
    assert scored(answer) == (0.0, "truncated")


@pytest.mark.parametrize(
    "reason", ["length", "max_tokens", "MAX_TOKENS", "FinishReason.MAX_TOKENS"]
)
def test_a_token_limit_is_a_cut_whatever_the_text(reason: str) -> None:
    assert scored(WHOLE[0], finish_reason=reason) == (0.0, "truncated")


def test_the_finish_reason_overrides_the_text() -> None:
    assert scored(CUT[0], finish_reason="stop") == (1.0, "")


def test_an_answer_whose_stream_broke_is_cut() -> None:
    assert scored(WHOLE[0], error="connection reset") == (0.0, "truncated")
