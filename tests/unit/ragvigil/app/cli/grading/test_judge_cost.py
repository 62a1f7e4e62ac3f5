"""`ragvigil judge cost` says what does not fit the day's budget, pot by pot, and the way out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from alerts.audits.settings import AuditSettings
from ragvigil.app.cli.grading.judge_cost import advice, report
from ragvigil.app.settings import Settings
from ragvigil.app.sources.judge_cost import Line, lines
from ragvigil.llm.prices import Price
from ragvigil.llm.spending import Pot
from scorers.judge.settings import JudgeSettings

TRAFFIC = [
    {
        "service": "help", "environment": "", "route": "/ask", "records": 10_000,
        "question_characters": 60.0, "answer_characters": 500.0, "chunk_characters": 700.0,
        "chunks": 5.0, "retrieved": 8.0, "citations": 3.0,
    }
]  # fmt: skip
PRICE = Price(input=0.4, output=1.6)


def settings(**given: Any) -> JudgeSettings:
    return JudgeSettings.model_validate({"model": "openai:gpt-4.1-mini"} | given)


def estimates(judge: JudgeSettings) -> list[Line]:
    return lines(TRAFFIC, judge, PRICE, AuditSettings())


def of(listed: list[Line], pot: Pot) -> float:
    return sum(line.dollars or 0.0 for line in listed if line.pot is pot)


def test_audits_and_canary_say_what_they_are_made_of() -> None:
    by_name = {line.name: line for line in estimates(settings())}
    made_of = by_name["audits"].remark
    assert made_of.startswith("2 a day x 300 answers x 2 sides: answer_relevance, ")
    assert by_name["canary"].remark == "4 a day x 60 answers: every rubric"
    assert {by_name[name].pot for name in ("audits", "canary")} == {Pot.RESERVED}


def test_without_a_budget_or_within_it_there_is_nothing_to_advise() -> None:
    for given in ({}, {"daily_money": 10_000.0}, {"daily_tokens": 10**12}):
        judge = settings(**given)
        assert advice(estimates(judge), judge) == []


def test_each_pot_that_is_too_small_is_named_with_what_is_enough() -> None:
    judge = settings(daily_money=1.0)
    sample, reserve = advice(estimates(judge), judge)
    assert sample.startswith("over the budget: the sample needs ")
    assert "has 0.80 US$ of [judge] daily_money = 1.00" in sample
    assert "audits and canary need" in reserve
    assert "have 0.20 US$ of [judge] daily_money = 1.00 (reserved_share = 0.2)" in reserve
    listed = estimates(judge)
    enough = max(of(listed, Pot.SAMPLE) / 0.8, of(listed, Pot.RESERVED) / 0.2) + 0.01
    raised = settings(daily_money=enough)
    assert advice(estimates(raised), raised) == []


def test_a_reserve_of_nothing_is_not_to_be_divided_by() -> None:
    judge = settings(daily_money=1000.0, reserved_share=0.0)
    (line,) = advice(estimates(judge), judge)
    assert "audits and canary" in line
    assert "raise daily_money" not in line


def test_a_model_without_a_price_is_told_how_to_get_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = Settings.model_validate({"judge": {"model": "openai:mine"}})
    assert report(given, {"traffic": TRAFFIC}, as_json=False) == 0
    assert '[judge.prices."openai:mine"] input = 0.40, output = 1.60' in capsys.readouterr().out


def test_the_prices_in_use_and_where_they_come_from_are_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    prices = {"openai:mine": {"input": 0.5, "output": 2.0}}
    judge = {"model": "openai:mine", "prices": prices, "daily_money": 1.0}
    given = Settings.model_validate({"judge": judge})
    report(given, {"traffic": TRAFFIC}, as_json=False)
    shown = capsys.readouterr().out
    assert "by [judge.prices]: 0.5 US$ a million input tokens, 2 output" in shown
    assert "over the budget: the sample needs" in shown
    report(given, {"traffic": TRAFFIC}, as_json=True)
    reply = json.loads(capsys.readouterr().out)
    assert reply["budget"] == {"daily_money": 1.0, "daily_tokens": None}
    assert len(reply["advice"]) == 2
