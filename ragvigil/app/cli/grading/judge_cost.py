"""`ragvigil judge cost`: what a day of judging would cost at the present traffic."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime

from ragvigil.app.cli.output.console import JsonObject, open_console, print_text
from ragvigil.app.settings import Settings
from ragvigil.app.sources.judge_cost import HOURS, Line, lines
from ragvigil.llm.prices import Price
from ragvigil.llm.settings import price_of
from ragvigil.llm.spending import Pot
from scorers.judge.settings import JudgeSettings


def advice(estimates: Iterable[Line], settings: JudgeSettings) -> list[str]:
    """What the estimate means for the budget, and what to change; empty where it fits."""
    listed, advice_lines = list(estimates), []
    if settings.model and any(line.dollars is None for line in listed):
        advice_lines.append(
            f"{settings.model} has no known price. Give one, in US$ a million tokens: "
            f'[judge.prices."{settings.model}"] input = 0.40, output = 1.60'
        )
    shares = {Pot.SAMPLE: 1 - settings.reserved_share, Pot.RESERVED: settings.reserved_share}
    for pot, share in shares.items():
        lines = [line for line in listed if line.pot is pot]
        dollars = sum(line.dollars or 0.0 for line in lines)
        tokens = sum(line.tokens for line in lines)
        for key, needed, most, unit in (
            ("daily_money", dollars, settings.daily_money, " US$"),
            ("daily_tokens", tokens, settings.daily_tokens, " tokens"),
        ):
            if most is not None and needed > most * share:
                advice_lines.append(_over(pot, key, needed, most, share, unit))
    return advice_lines


def _over(pot: Pot, key: str, needed: float, most: float, share: float, unit: str) -> str:
    """One line on a pot that is too small, with its arithmetic and the ways out."""
    digits = ",.2f" if key == "daily_money" else ",.0f"
    # Rounded up, so that the advice is enough.
    enough = math.ceil(100 * needed / share) / 100 if share else None
    raised = f"raise {key} to {enough:{digits}}, or " if enough is not None else ""
    has = f"{most * share:{digits}}{unit} of [judge] {key} = {most:{digits}}"
    if pot is Pot.SAMPLE:
        return (
            f"over the budget: the sample needs {needed:{digits}}{unit} a day and has {has}, so "
            f"about {most * share / needed:.0%} of it is judged; {raised}lower sample_rate"
        )
    return (
        f"over the budget: audits and canary need {needed:{digits}}{unit} a day and have {has} "
        f"(reserved_share = {share:g}), so audits end undecided; {raised}lower [alerts.audit] "
        "per_day or records, or raise [judge] canary_hours"
    )


def report(settings: Settings, reply: JsonObject, *, as_json: bool) -> int:
    """Prints the estimate for the API's `/traffic`; returns the exit status."""
    judge = settings.judge
    price = price_of(judge, datetime.now(UTC).date()) if judge.model else None
    routes = reply["traffic"]
    estimates = lines(routes, judge, price, settings.alerts.audit)
    records = sum(route["records"] for route in routes)
    judged = sum(route["records"] * judge.rate_of(route["route"]) for route in routes)
    if as_json:
        plain = [asdict(line) for line in estimates]
        budget = {"daily_money": judge.daily_money, "daily_tokens": judge.daily_tokens}
        print(
            json.dumps(
                {
                    "records": records,
                    "judged": judged,
                    "lines": plain,
                    "budget": budget,
                    "advice": advice(estimates, judge),
                }
            )
        )
        return 0
    _show(estimates, records, judged, judge)
    _show_price(judge, price)
    for line in advice(estimates, judge):
        print_text(line)
    return 0


def _show(estimates: list[Line], records: int, judged: float, judge: JudgeSettings) -> None:
    from rich.table import Table

    table = Table(box=None, title=f"a day of judging with {judge.model or 'no model yet'}")
    for name in ("rubric", "calls", "input tokens", "output tokens", "US$", ""):
        table.add_column(name, justify="left" if name in ("rubric", "") else "right")
    total = Line(
        name="together",
        calls=sum(line.calls for line in estimates),
        input_tokens=sum(line.input_tokens for line in estimates),
        output_tokens=sum(line.output_tokens for line in estimates),
        dollars=None
        if any(line.dollars is None for line in estimates)
        else sum(line.dollars or 0.0 for line in estimates),
    )
    for line in (*estimates, total):
        dollars = "unknown" if line.dollars is None else f"{line.dollars:,.2f}"
        table.add_row(
            line.name, f"{line.calls:,.0f}", f"{line.input_tokens:,.0f}",
            f"{line.output_tokens:,.0f}", dollars, line.remark,
        )  # fmt: skip
    console = open_console()
    console.print(table)
    console.print(
        f"{records:,} live answers in the last {HOURS} h, {judged:,.0f} of them in the sample "
        f"({judge.sample_rate:.0%}); tokens are estimated at 4 characters each."
    )


def _show_price(judge: JudgeSettings, price: Price | None) -> None:
    if price is None:
        if not judge.model:
            print_text("No price is known without a model: [judge] model.")
        return
    source = "[judge.prices]" if judge.model in judge.prices else "ragvigil's list"
    print_text(
        f"Prices of {judge.model}, by {source}: {price.input:g} US$ a million input tokens, "
        f"{price.output:g} output."
    )
