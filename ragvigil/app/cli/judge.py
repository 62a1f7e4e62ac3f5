"""`ragvigil judge cost`: what a day of judging would cost at the present traffic."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from alerts.audits.settings import AuditSettings
from ragvigil.app.cli.output.console import JsonObject, open_console
from ragvigil.app.settings import Settings
from ragvigil.llm.outcome import Usage
from ragvigil.llm.prices import Price
from ragvigil.llm.settings import price_of
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
    """One line of the estimate: calls, tokens and US dollars a day; dollars None where unpriced."""

    name: str
    calls: float
    input_tokens: float
    output_tokens: float
    dollars: float | None
    remark: str = ""


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
    of_audits = {*audit.rubrics, *audit.then}
    audited = [cost for cost in busiest if cost.rubric in of_audits]
    runs = 24 / settings.canary_hours if settings.canary_hours else 0.0
    return [
        *sums.values(),
        _together("suspicious, at most", busiest, records * settings.suspicious_rate, price),
        _together("audits", audited, audit.per_day * SIDES * audit.records, price),
        _together("canary", busiest, runs * CANARY_RECORDS, price),
    ]


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
        print(json.dumps({"records": records, "judged": judged, "lines": plain}))
        return 0
    _show(estimates, records, judged, judge)
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
    if total.dollars is None:
        console.print("A price is missing: name a known model in [judge] model, or give prices.")


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
