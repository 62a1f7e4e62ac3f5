"""`ragvigil judge cost`: what a day of judging would cost at the present traffic."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from alerts.audits.settings import AuditSettings
from ragvigil.app.cli.output.console import JsonObject, open_console, print_text
from ragvigil.app.settings import Settings
from ragvigil.llm.outcome import Usage
from ragvigil.llm.prices import Price
from ragvigil.llm.settings import price_of
from ragvigil.llm.spending import Pot
from scorers.judge.cost import Cost, Sizes, estimate
from scorers.judge.job import families
from scorers.judge.settings import JudgeSettings
from scorers.rubric import load_rubrics

HOURS = 24
SIDES = 2
"""An audit judges as many records from before a change as from after it."""
CANARY_RECORDS = 60
"""Judged by each run of the canary."""
UNKNOWN_CHUNK = 600.0
"""Characters of a chunk where no span has carried one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the estimate: calls, tokens and US dollars a day; dollars None where unpriced.

    `pot` is the part of the budget that pays for it.
    """

    name: str
    calls: float
    input_tokens: float
    output_tokens: float
    dollars: float | None
    remark: str = ""
    pot: Pot = Pot.SAMPLE

    @property
    def tokens(self) -> float:
        """Input and output."""
        return self.input_tokens + self.output_tokens


def lines(
    traffic: Iterable[JsonObject],
    settings: JudgeSettings,
    price: Price | None,
    audit: AuditSettings,
) -> list[Line]:
    """What each rubric costs for a day of `traffic`, then suspicious answers, audits and canary.

    Audits and canary are estimated with the sizes of the busiest route.
    """
    rubrics = families(load_rubrics(), settings.rubrics)
    sums: dict[str, Line] = {}
    busiest: list[Cost] = []
    records = 0.0
    for route in traffic:
        share = settings.rate_of(route["route"])
        records += route["records"]
        judged = route["records"] * share
        costs = estimate(rubrics, _sizes(route), settings.max_characters)
        busiest = busiest or costs
        for cost in costs:
            sums[cost.rubric] = _plus(sums.get(cost.rubric), cost, judged, price)
    suspicious = _together(
        "suspicious, at most", busiest, records * settings.suspicious_rate, price
    )
    return [
        *sums.values(),
        replace(suspicious, remark=f"{settings.suspicious_rate:.0%} of all answers, every rubric"),
        *_reserved(busiest, settings, price, audit),
    ]


def _reserved(
    costs: Sequence[Cost], settings: JudgeSettings, price: Price | None, audit: AuditSettings
) -> Iterator[Line]:
    """Audits and canary, which the reserve of the budget pays; `costs` are those of a record."""
    audited = [cost for cost in costs if cost.rubric in {*audit.rubrics, *audit.then}]
    audits = _together("audits", audited, audit.per_day * SIDES * audit.records, price)
    of_rubrics = ", ".join(cost.rubric for cost in audited)
    yield replace(
        audits,
        pot=Pot.RESERVED,
        remark=f"{audit.per_day} a day x {audit.records} answers x {SIDES} sides: {of_rubrics}",
    )
    runs = HOURS / settings.canary_hours if settings.canary_hours else 0.0
    canary = _together("canary", costs, runs * CANARY_RECORDS, price)
    remark = f"{runs:g} a day x {CANARY_RECORDS} answers: every rubric"
    yield replace(canary, pot=Pot.RESERVED, remark=remark)


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


def _sizes(route: JsonObject) -> Sizes:
    return Sizes(
        question=route["question_characters"],
        answer=route["answer_characters"],
        chunk=route["chunk_characters"] or UNKNOWN_CHUNK,
        chunks=route["chunks"],
        retrieved=route["retrieved"],
        citations=route["citations"],
    )


def _plus(before: Line | None, cost: Cost, records: float, price: Price | None) -> Line:
    more = _line(cost.rubric, cost.usage, records, price, cost.calls, cost.reason)
    if before is None:
        return more
    unpriced = before.dollars is None or more.dollars is None
    return Line(
        name=cost.rubric,
        calls=before.calls + more.calls,
        input_tokens=before.input_tokens + more.input_tokens,
        output_tokens=before.output_tokens + more.output_tokens,
        dollars=None if unpriced else (before.dollars or 0.0) + (more.dollars or 0.0),
        remark=before.remark or more.remark,
    )


def _line(
    name: str, usage: Usage, times: float, price: Price | None, calls: int, remark: str = ""
) -> Line:
    return Line(
        name=name,
        calls=calls * times,
        input_tokens=usage.input_tokens * times,
        output_tokens=usage.output_tokens * times,
        dollars=None if price is None else price.cost(usage) * times,
        remark=remark,
    )


def _together(name: str, costs: Iterable[Cost], times: float, price: Price | None) -> Line:
    """Several rubrics, each asked about `times` records."""
    usage, calls = Usage(), 0
    for cost in costs:
        usage, calls = usage + cost.usage, calls + cost.calls
    return _line(name, usage, times, price, calls)
