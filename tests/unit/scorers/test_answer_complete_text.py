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
    "Pack it. Enjoy your new shoes 🎉", "Pack it. Enjoy it ❤️", "It fell. It is lower by ⅓",
    "It rose. You will pay 25 €", "It rose. In the last year it came to 5%", "It is $E = mc^2$",
    "It is strong. It moves a volume of 12 m³/h", "It is warm. The pool has 28 °C",
    "Open it. The file is in /etc/app/config.yaml", "Go there. See www.shop.example/returns",
    "It is new. Share it with your friends #release", "Open it. Go to Settings > Privacy > Data",
    "Run it. SELECT * FROM orders WHERE id = 5;", "Pack it. Send it.\n\n---",
    "Steps.\n\na) pack the shoes in their box\nb) print the label that we sent",
    "Steps! 👟\n✅ Pack the shoes in a box\n✅ Print the label that we sent",
    "Two ways. Choose one:\n\n* By post (free)\n* In any shop of our partners",
    "Roses are red. Violets are blue.\nYour shoes are ready\nAnd waiting for you",
    "It is on its way.\n\nKind regards,\nYour team of customer service",
    "Here you are. Two rows.\n\nname,unit\nspeed,metres per second of time",
    "It takes 5 days.\n\nSources: Returns policy, Notes of the spring catalogue",
    "まず箱に入れます。次にラベルを印刷してください",
    "먼저 상자에 넣으세요. 그다음 라벨을 인쇄하면 됩니다",
)  # fmt: skip
CUT = (
    "Refunds take 5 to 7 days. Store credit is issued imm",
    "退款需要5到7天。商店积分将在24小时",
    "Use this:\n```sh\nship --free",
    '{"days": 5, "why": "the car',
    "You need three things. First, the receipt that came with the",
    "Pack the shoes, print the label and",
    "First, pack the shoes, print the label,",
    "Send it back (if it was bought in a shop you also need",
    "Read the [rules of returns](https://shop.example/ret",
    "| fee | days |\n|---|---|\n| 4.90 | 5 |\n| 3.9",
    "Bring this.\n- the receipt [1]\n- the order number [2]\n- a card with your",
    "Bring this.\n- the receipt\n- the order number,",
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
