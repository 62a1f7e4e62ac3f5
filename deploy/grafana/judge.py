"""The judge: whether it answers, what it costs, and whether it agrees with people."""

from __future__ import annotations

from typing import Any

from grafana_foundation_sdk.builders.dashboard import TextBoxVariable

from deploy.grafana.board import board, from_labels
from deploy.grafana.chart import Chart, Limits, Query, Section, Shape, Unit
from deploy.grafana.instances import ON, hourly, lines, quantile

NO_JUDGE = " No data: no judge is set, or it was not asked."


def judged(title: str, says: str, todo: str, *queries: Query, **more: Any) -> Chart:
    """A chart that is empty without a judge, and says so."""
    return lines(title, says + NO_JUDGE, todo, *queries, **({"width": 12} | more))


CALLS = Section(
    title="Calls",
    charts=(
        judged(
            "Questions, last hour",
            "Questions asked of the model, by purpose.",
            "None although a judge is set: look at the breaker and the budget below.",
            Query(expr=hourly("ragvigil_llm_calls_total", "purpose"), name="{{purpose}}"),
        ),
        judged(
            "Failures by kind, last hour",
            "Questions that got no answer. Their scores are missing, never 0.",
            "rate_limited: lower [judge] concurrency; unparseable: another model; "
            "otherwise look at the API's address and key.",
            Query(
                expr=hourly("ragvigil_llm_failures_total", "purpose, kind"),
                name="{{kind}} ({{purpose}})",
            ),
            limits=Limits(orange=1),
        ),
        judged(
            "Time of an answer",
            "From the first attempt to the answer or failure, repeats included.",
            "Slow answers let the queue grow; more calls in flight, or a faster model.",
            Query(expr=quantile(0.5, "ragvigil_llm_seconds"), name="half"),
            Query(expr=quantile(0.95, "ragvigil_llm_seconds"), name="95 %"),
            unit=Unit.SECONDS,
        ),
        judged(
            "Requests, repairs and kept answers, last hour",
            "Requests by result, replies that had to be asked for again, and questions "
            "answered from the cache.",
            "Many repairs: the model does not hold the form; take another.",
            Query(expr=hourly("ragvigil_llm_attempts_total", "result"), name="{{result}}"),
            Query(expr=hourly("ragvigil_llm_repairs_total", "job"), name="asked again"),
            Query(
                expr=hourly("ragvigil_llm_cache_hits_total", "purpose"),
                name="from the cache ({{purpose}})",
            ),
        ),
    ),
)


SPENT = f"sum by (purpose) (increase(ragvigil_llm_dollars_total{{{ON}}}[24h]))"
MONEY = Section(
    title="Money",
    charts=(
        judged(
            "Spent in 24 hours against the budget",
            "US dollars by the known prices; the dashed line is the budget that you entered above.",
            "Near the budget the rates sink, for all routes alike: raise it, or judge less.",
            Query(expr=SPENT, name="{{purpose}}"),
            Query(expr="vector($daily_money) > 0", name="budget"),
            unit=Unit.DOLLARS,
            dashed="budget",
        ),
        judged(
            "What budget and pace leave of the rates",
            "100 %: as sampled; below, the share that is still judged.",
            "Budget below 100 % for long: it does not fit the traffic; `ragvigil judge cost` "
            "counts it by rubric. Pace: the judge cannot keep up; more calls at a time may help.",
            Query(expr=f"ragvigil_judge_thinning{{{ON}}}", name="{{cause}} {{instance}}"),
            unit=Unit.SHARE,
            limits=Limits(orange=1, red=0.5, low_is_bad=True),
            highest=1,
        ),
        judged(
            "Tokens, last hour",
            "Paid tokens by kind; assumed ones where the provider did not say.",
            "Input grows: longer contexts are judged; fewer or shorter chunks cost less.",
            Query(
                expr=hourly("ragvigil_llm_tokens_total", "purpose, kind"),
                name="{{kind}} ({{purpose}})",
            ),
        ),
        judged(
            "Spending not written down, last hour",
            "Times that the day's spending could not be kept over a restart.",
            "Look at the daemon's log and the data folder's disk.",
            Query(expr=hourly("ragvigil_llm_book_errors_total", "instance")),
            limits=Limits(red=1),
        ),
    ),
)


QUEUE = Section(
    title="Queue",
    charts=(
        judged(
            "Waiting and under way",
            "Records that wait to be judged, and calls under way.",
            "More than five minutes' work waits: the judge cannot keep up, and the rates sink.",
            Query(expr=f"ragvigil_judge_waiting{{{ON}}}", name="waiting {{instance}}"),
            Query(expr=f"ragvigil_llm_in_flight{{{ON}}}", name="in flight {{instance}}"),
        ),
        Chart(
            title="The API is left alone",
            says="Whether most questions fail, and whether calls are paused for it." + NO_JUDGE,
            todo="It tries again by itself; `ragvigil status` says why, and the way out.",
            shape=Shape.NUMBER,
            unit=Unit.STATE,
            queries=(
                Query(expr=f"max(ragvigil_llm_failing{{{ON}}})", name="failing"),
                Query(expr=f"max(ragvigil_llm_breaker_open{{{ON}}})", name="paused"),
            ),
            limits=Limits(red=1),
            states={0: "no", 1: "yes"},
            width=4,
        ),
        judged(
            "Judged records, last hour",
            "Records that left the queue, by stream and result, and those that found it full.",
            "Queue full: the records left out count against coverage; lower the rate.",
            Query(
                expr=hourly("ragvigil_judge_records_total", "stream, result"),
                name="{{result}} ({{stream}})",
            ),
            Query(expr=hourly("ragvigil_judge_shed_total", "job"), name="queue full"),
            width=8,
        ),
        judged(
            "Verdicts missing, last hour",
            "Verdicts that were asked for and not given, by reason.",
            "They count against coverage. Many of one rubric: try its prompt with "
            "`ragvigil rubric try`.",
            Query(
                expr=hourly("ragvigil_judge_missing_total", "rubric, reason"),
                name="{{rubric}}: {{reason}}",
            ),
        ),
        judged(
            "Quotes that are not in the text, last hour",
            "Quotes that a judge gave for its verdicts, by whether the text has them.",
            "A fifth of them not found is a ticket: its verdicts are left out; take another model.",
            Query(
                expr=hourly("ragvigil_judge_quotes_total", "judge, result"),
                name="{{judge}}: {{result}}",
            ),
        ),
    ),
)


PEOPLE = " No data: nobody has labelled answers yet (`ragvigil labels import`)."
AGREEMENT = Section(
    title="Agreement with people",
    charts=(
        Chart(
            title="Agreement beyond chance (kappa)",
            says="1 is full agreement, 0 is what chance gives." + PEOPLE,
            todo="Below 0.6: read the answers on which they differ; reword the rubric.",
            shape=Shape.LINES,
            unit=Unit.STATE,
            queries=(Query(expr=f"ragvigil_judge_kappa{{{ON}}}", name="{{rubric}} {{judge}}"),),
            limits=Limits(orange=0.6, red=0.4, low_is_bad=True),
            lowest=-1,
            highest=1,
        ),
        Chart(
            title="States of the judges",
            says="unmeasured, trusted or retired, and the labels they are measured by.",
            todo="Retired: its verdicts feed no mean. Import more labels or change the judge.",
            shape=Shape.TABLE,
            unit=Unit.STATE,
            queries=(
                Query(
                    expr=f"max by (rubric, judge, state) (ragvigil_judge_state{{{ON}}} == 1)",
                    name="is",
                ),
            ),
            hidden_columns=("is",),
        ),
        Chart(
            title="Labels they are measured by",
            says="Of the newest 200." + PEOPLE,
            todo="Fewer than 50 tell little: label more answers.",
            shape=Shape.BARS,
            unit=Unit.PLAIN,
            queries=(
                Query(
                    expr=f"max by (rubric, judge) (ragvigil_judge_labels{{{ON}}})",
                    name="{{rubric}} {{judge}}",
                ),
            ),
            limits=Limits(orange=50, low_is_bad=True),
            lowest=0,
            highest=200,
        ),
        Chart(
            title="Moved on the frozen canary",
            says="Whether a rubric's judge answers the frozen questions otherwise than at "
            "first: then it is the judge that changed, not your service." + NO_JUDGE,
            todo="Pin the model's version; compare only means since the change.",
            shape=Shape.BARS,
            unit=Unit.STATE,
            queries=(
                Query(expr=f"max by (rubric) (ragvigil_judge_moved{{{ON}}})", name="{{rubric}}"),
            ),
            limits=Limits(red=1),
            states={0: "no", 1: "yes"},
            lowest=0,
            highest=1,
        ),
    ),
)


def dashboard() -> dict[str, Any]:
    """Calls, money, queue, agreement, canary."""
    money = TextBoxVariable("daily_money").label("[judge] daily_money, US$").default_value("0")
    return board(
        uid="ragvigil-judge",
        title="ragvigil: the judge",
        says="The language model that judges a sample: calls and failures, spending against the "
        "budget, what waits, and its agreement with people.",
        variables=(from_labels("instance", "instance", "ragvigil_core_up", several=True), money),
        sections=(CALLS, MONEY, QUEUE, AGREEMENT),
    )
