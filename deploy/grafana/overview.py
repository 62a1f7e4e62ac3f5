"""The overview: is something broken, and in which layer. A row per layer, never mixed."""

from __future__ import annotations

from typing import Any

from deploy.grafana.board import SCOPE, board, from_labels, noticed, window
from deploy.grafana.chart import Chart, Limits, Query, Section, Shape, Unit
from deploy.grafana.issues import issues

LAYERS = {
    "retrieval": "Retrieval: did the right chunks come back?",
    "generation": "Generation: did the answer do right by them?",
    "cross_cutting": "Cross-cutting: citations, injected text, and what belongs to no one layer",
}
OPEN = f"ragvigil_incident_open{{{SCOPE}}} == 1"
PLACE = "service, environment, route"
SCORES, RATES = 'rubric!~".+:.+"', 'rubric=~".+:.+"'
"""A series named `rubric:label` is the share of the answers with that label, not a score."""


def dashboard() -> dict[str, Any]:
    """Incidents and broken signals first, then issues, then a row per layer."""
    scored = "ragvigil_score_count_total"
    return board(
        uid="ragvigil-overview",
        title="ragvigil: overview by layer",
        says="Open incidents, signals against their ceilings, issues, and the rubrics of each "
        "layer. Rubrics of different layers are never averaged. The marks are notices of changes.",
        variables=(
            from_labels("service", "service", scored, several=True),
            from_labels(
                "environment", "environment", f'{scored}{{service=~"$service"}}', several=True
            ),
            window(),
        ),
        sections=(
            _now(),
            _signals(),
            issues(),
            *(_layer(name, title) for name, title in LAYERS.items()),
        ),
        marks=noticed(SCOPE),
    )


def _now() -> Section:
    return Section(title="Now", charts=(*_numbers(), _incidents()))


def _numbers() -> tuple[Chart, ...]:
    return (
        _number(
            "Open incidents",
            "Incidents that are open and not snoozed; 0 only where the daemon answers.",
            "Read them in the table beside; `ragvigil incidents show ID` has the traces.",
            f"count({OPEN}) or 0 * max(ragvigil_core_up == 1)",
            "sum(ragvigil_incidents_hidden)",
            names=("open", "too many to list"),
            limits=Limits(orange=1),
        ),
        _number(
            "Watching",
            "Whether the core process runs and answers.",
            "Not watching: look at the daemon's log; see the daemon dashboard.",
            "min(ragvigil_core_up)",
            limits=Limits(red=1, low_is_bad=True),
            states={0: "no", 1: "yes"},
        ),
        _number(
            "Audits open",
            "Comparisons by the judge, before against after a change, that are under way.",
            "Nothing; a confirmed drop becomes an incident.",
            f"sum(ragvigil_audit_open{{{SCOPE}}}) or 0 * max(ragvigil_core_up == 1)",
        ),
        _number(
            "Audits ended, 30 days",
            "Comparisons that found a drop, none, or could not tell within their budget.",
            "Mostly undecided: more records an audit, or a larger smallest_drop, in "
            "[alerts.audit].",
            "sum by (result) (increase(ragvigil_audits_total[30d]))",
            names=("{{result}}",),
        ),
        _number(
            "Incidents, 30 days",
            "Incidents of all services by severity.",
            "Many tickets that nobody needed: mark them as expected or false.",
            "sum by (severity) (increase(ragvigil_incidents_total[30d]))",
            names=("{{severity}}",),
        ),
        _number(
            "False pages, 30 days",
            "Pages that somebody marked as false.",
            "Where they pile up, look at which rubric or signal they come from.",
            "sum(increase(ragvigil_false_pages_total[30d]))",
            limits=Limits(orange=1),
        ),
    )


def _number(
    title: str, says: str, todo: str, *exprs: str, names: tuple[str, ...] = ("",), **more: Any
) -> Chart:
    return Chart(
        title=title,
        says=says,
        todo=todo,
        shape=Shape.NUMBER,
        unit=Unit.STATE,
        queries=tuple(Query(expr=expr, name=name) for expr, name in zip(exprs, names, strict=True)),
        width=4,
        height=4,
        **more,
    )


def _incidents() -> Chart:
    labels = "incident, service, environment, severity, layer"
    words = "incident, worse, since, routes, changed, cause, traces, link"
    joined = (
        f"max by ({labels}) ({OPEN}) * on (incident) "
        "group_right (service, environment, severity, layer) "
        f"max by ({words}) (ragvigil_incident_message)"
    )
    return Chart(
        title="Open incidents",
        says="What is worse, since when, on which routes, what changed then, which layer is to "
        "blame, and traces that show it. Empty: none is open, or nothing watches (see beside).",
        todo="Open the route, read a trace (`ragvigil trace ID`), then `ragvigil incidents "
        "ack|snooze|expected|false-page|resolve ID`.",
        shape=Shape.TABLE,
        unit=Unit.STATE,
        queries=(Query(expr=joined, name="open"),),
        hidden_columns=("open",),
        width=24,
    )


def _signals() -> Section:
    value = f"max by ({PLACE}, signal) (ragvigil_signal{{{SCOPE}}})"
    ceiling = "max by (signal) (ragvigil_signal_ceiling)"
    share = Chart(
        title="Signals as a share of their ceilings",
        says="Rates on all traffic (empty retrievals, errors, refusals, truncated answers and so "
        "on) and latency, each divided by the ceiling above which it counts as broken.",
        todo="Above 100 % an incident opens within minutes. Look at the route, and at what was "
        "noticed just before.",
        shape=Shape.LINES,
        unit=Unit.SHARE,
        queries=(
            Query(
                expr=f"{value} / on (signal) group_left () ({ceiling} > 0)",
                name="{{signal}} {{service}} {{route}}",
            ),
        ),
        limits=Limits(orange=0.7, red=1),
        links_to_route=True,
        lowest=0,
    )
    return Section(title="Broken signals", charts=(share, _signal_table(value, ceiling)))


def _signal_table(value: str, ceiling: str) -> Chart:
    return Chart(
        title="Signals over their ceilings now",
        says="Signals that are over their ceilings, with both numbers: a share, or seconds "
        "where the signal is a time. Empty: none is, or none is measured.",
        todo="Start with the one that is the furthest over; its route is a link.",
        shape=Shape.TABLE,
        unit=Unit.PLAIN,
        queries=(
            Query(expr=f"{value} > on (signal) group_left () {ceiling}", name="now"),
            Query(
                expr=f"0 * ({value} > on (signal) group_left () {ceiling}) "
                f"+ on (signal) group_left () {ceiling}",
                name="ceiling",
            ),
        ),
        limits=Limits(),
        links_to_route=True,
    )


def _layer(layer: str, title: str) -> Section:
    scope = f'{SCOPE}, layer="{layer}"'
    charts = (_means(layer, scope), _shares(layer, scope), _watched(scope), _moved(scope))
    return Section(title=title, charts=charts)


def _means(layer: str, scope: str) -> Chart:
    return Chart(
        title=f"Mean of each rubric: {layer}",
        says="Each rubric by itself, its routes weighted by their records. 100 % is good. "
        "A mean of which too little could be seen is left out.",
        todo="A line that fell: look in the table below for the route that moved.",
        shape=Shape.LINES,
        unit=Unit.SHARE,
        queries=(_pooled(f"{scope}, {SCORES}"),),
        lowest=0,
        highest=1,
    )


def _shares(layer: str, scope: str) -> Chart:
    return Chart(
        title=f"Shares of answers by label: {layer}",
        says="Share of the scored answers that fail a rubric (`rubric:failed`), or that have a "
        "label which [alerts] rates follows, as `refusal:refused`; routes weighted by records.",
        todo="A line that rose: look in the table below for the route; its dashboard has the "
        "labels that say in which way answers fail.",
        shape=Shape.LINES,
        unit=Unit.SHARE,
        queries=(_pooled(f"{scope}, {RATES}"),),
        lowest=0,
        highest=1,
    )


def _pooled(scope: str) -> Query:
    """One rubric over its routes, weighted by records; places stay apart, and who scored."""
    by = "service, environment, rubric, kind"
    mean = f'ragvigil_score_mean{{{scope}, window="$window"}}'
    records = f'ragvigil_score_records{{{scope}, window="$window"}}'
    pooled = f"sum by ({by}) ({mean} * {records}) / (sum by ({by}) ({records} and {mean}) > 0)"
    return Query(expr=pooled, name="{{rubric}} {{kind}} {{service}} {{environment}}")


def _watched(scope: str) -> Chart:
    means, shares = (f"ragvigil_score_moved{{{scope}, {kind}}}" for kind in (SCORES, RATES))
    return Chart(
        title="Moved in 6 hours",
        says="Rubrics on routes whose 6-hour mean fell below its baseline, interval included, "
        "shares of labels that rose above theirs, and how many of both are watched.",
        todo="Those that moved stand in the table beside.",
        shape=Shape.NUMBER,
        unit=Unit.STATE,
        queries=(
            Query(expr=f"count({means} < 0) or 0 * count({means})", name="means that fell"),
            Query(expr=f"count({shares} > 0) or 0 * count({shares})", name="shares that rose"),
            Query(expr=f"count(ragvigil_score_moved{{{scope}}})", name="watched"),
        ),
        width=4,
    )


def _moved(scope: str) -> Chart:
    six_hours = f'{scope}, window="6h"'
    by = f"{PLACE}, rubric, kind"
    moved = f"(ragvigil_score_moved{{{six_hours}}} != 0)"
    names = {
        "delta": "delta",
        "delta_low": "at least",
        "delta_high": "at most",
        "mean": "mean",
        "records": "records",
    }
    return Chart(
        title="What moved in 6 hours",
        says="Mean less baseline, with its 95 % interval, of every rubric and route whose "
        "interval lies wholly beyond the threshold. Empty: nothing moved, or nothing is watched.",
        todo="The route is a link. `ragvigil deltas` names the reasons in words.",
        shape=Shape.TABLE,
        unit=Unit.SHARE,
        queries=tuple(
            Query(
                expr=f"max by ({by}) (ragvigil_score_{metric}{{{six_hours}}} and {moved})",
                name=name,
            )
            for metric, name in names.items()
        ),
        columns={"records": Unit.PLAIN},
        limits=Limits(),
        links_to_route=True,
        width=20,
    )
