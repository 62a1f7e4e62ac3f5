"""What a day of judging would cost at the present traffic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from alerts.audits.settings import AuditSettings
from ragvigil.llm.outcome import Usage
from ragvigil.llm.prices import Price
from ragvigil.llm.spending import Pot
from scorers.judge.cost import Cost, Sizes, estimate
from scorers.judge.job import families
from scorers.judge.settings import JudgeSettings
from scorers.rubric import load_rubrics

RouteTraffic = Mapping[str, Any]
"""The fields of `Traffic` by name."""
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
    traffic: Iterable[RouteTraffic],
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


def _sizes(route: RouteTraffic) -> Sizes:
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
