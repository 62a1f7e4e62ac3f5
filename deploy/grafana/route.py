"""One route: every rubric with its baseline and interval, and what the numbers can show."""

from __future__ import annotations

from typing import Any

from deploy.grafana.board import board, from_labels, noticed, window
from deploy.grafana.chart import Chart, Limits, Query, Section, Shape, Unit
from deploy.grafana.issues import issues_of
from deploy.grafana.overview import LAYERS, SCORES
from deploy.grafana.panels import route_page

ROUTE = 'service="$service", environment="$environment", route="$route"'
SHOWN = f'{ROUTE}, window="$window"'
SEEN_OVER_A_DAY = f'{ROUTE}, window="24h", {SCORES}'


def dashboard() -> dict[str, Any]:
    """Variables service, environment, route; the rubrics of each layer repeat by themselves."""
    return board(
        uid="ragvigil-route",
        title="ragvigil: a route in detail",
        says="Every rubric of one route: mean, baseline, interval, coverage, and the smallest "
        "drop that the traffic can show. The marks are notices of changes on this route.",
        variables=_variables(),
        sections=(
            _at_a_glance(),
            *(_layer(name) for name in LAYERS),
            _answers(),
            issues_of(ROUTE),
            _changes(),
        ),
        marks=noticed(ROUTE),
        since="now-2d",
        page=route_page("{name}"),
    )


def _variables() -> tuple[Any, ...]:
    scored = "ragvigil_score_count_total"
    chosen = f'{scored}{{service="$service"'
    return (
        from_labels("service", "service", scored),
        from_labels("environment", "environment", f"{chosen}}}"),
        from_labels("route", "route", f'{chosen}, environment="$environment"}}'),
        window(),
        *(
            from_labels(
                layer, "rubric", f'{scored}{{{ROUTE}, layer="{layer}"}}', several=True, hidden=True
            )
            for layer in LAYERS
        ),
    )


def _at_a_glance() -> Section:
    return Section(title="At a glance", charts=(_rubrics(), _detection_limits(), _sustained()))


def _rubrics() -> Chart:
    columns = {
        "mean": Unit.SHARE,
        "baseline": Unit.SHARE,
        "delta": Unit.SHARE,
        "delta_low": Unit.SHARE,
        "delta_high": Unit.SHARE,
        "release_delta": Unit.SHARE,
        "coverage": Unit.SHARE,
        "plain_mean": Unit.SHARE,
        "judged_share": Unit.SHARE,
        "records": Unit.PLAIN,
    }
    return Chart(
        title="Rubrics over $window",
        says="Mean, baseline (the same hours of earlier days, or the past), the difference with "
        "its 95 % interval, that to a pinned release, the share of records that could be "
        "scored, and their number. Where a judge scores a sample, the mean is that of all "
        "answers, beside the plain one and the share that was judged. "
        "A row named `rubric:label` is the share of the answers with that label.",
        todo="A difference whose whole interval is below 0 is a drop. Low coverage: "
        "`ragvigil doctor` names the missing field and the line that sends it.",
        shape=Shape.TABLE,
        unit=Unit.SHARE,
        queries=tuple(
            Query(
                expr=f"max by (layer, rubric, kind) (ragvigil_score_{name}{{{SHOWN}}})", name=name
            )
            for name in columns
        ),
        columns=columns,
        limits=Limits(),
        width=24,
        height=9,
    )


def _detection_limits() -> Chart:
    limit = f"max by (rubric, kind) (ragvigil_score_detection_limit{{{SEEN_OVER_A_DAY}}})"
    return Chart(
        title="Sees drops of at least … in 24 h",
        says="The smallest drop of each rubric that a day of this route's traffic can show.",
        todo="Too large: judge a larger share, or rely on the service's pooled series.",
        shape=Shape.NUMBER,
        unit=Unit.SHARE,
        queries=(Query(expr=limit, name="{{rubric}} {{kind}}"),),
        limits=Limits(orange=0.1),
        width=16,
        height=6,
    )


def _sustained() -> Chart:
    drop = f"max by (rubric, kind, window) (ragvigil_score_sustained_drop{{{ROUTE}, {SCORES}}})"
    return Chart(
        title="Drops that last",
        says="Rubrics whose 30- or 90-minute mean stayed down for as long as the window is.",
        todo="Look at its chart below for when it began, and at the marks for what changed then.",
        shape=Shape.BARS,
        unit=Unit.STATE,
        queries=(Query(expr=drop, name="{{rubric}} {{kind}} {{window}}"),),
        limits=Limits(red=1),
        states={0: "no", 1: "yes"},
        lowest=0,
        highest=1,
        width=8,
        height=6,
    )


def _layer(layer: str) -> Section:
    return Section(title=LAYERS[layer], charts=(_rubric(layer),))


def _rubric(layer: str) -> Chart:
    of = f'{SHOWN}, layer="{layer}", rubric=~"${layer}"'
    mean, baseline, low, high = (
        _judged_first(f"ragvigil_score_{name}", of)
        for name in ("mean", "baseline", "delta_low", "delta_high")
    )
    return Chart(
        title=f"${layer}",
        says="Mean over the window; the band is its 95 % interval; the dashed line the baseline. "
        "Gaps: too little could be scored, or nothing was asked. Where a judge scores it, this is "
        "what the judge says.",
        todo="Where the band leaves the baseline, read a failing trace: "
        "`ragvigil trace ID`, ids from the overview's incidents or `ragvigil deltas`.",
        shape=Shape.LINES,
        unit=Unit.SHARE,
        queries=(
            Query(expr=mean, name="mean"),
            Query(expr=baseline, name="baseline"),
            Query(expr=f"{baseline} + {low}", name="lower"),
            Query(expr=f"{baseline} + {high}", name="upper"),
        ),
        lowest=0,
        highest=1,
        band=("lower", "upper"),
        dashed="baseline",
        repeat=layer,
        width=8,
    )


def _judged_first(metric: str, of: str) -> str:
    """A judge's series of a rubric where there is one, else that of code or a local model."""
    return f'({metric}{{{of}, kind="judge"}} or ignoring(kind) {metric}{{{of}}})'


def _answers() -> Section:
    return Section(title="Answers", charts=(_failing(), _labels(), _coverage(), _absent()))


def _failing() -> Chart:
    failed, count = (
        f"sum by (rubric, kind) (increase(ragvigil_score_{name}_total{{{ROUTE}}}[1h]))"
        for name in ("failed", "count")
    )
    return Chart(
        title="Failing share, last hour",
        says="Share of the scored answers that fail each rubric.",
        todo="The labels beside tell in which way they fail.",
        shape=Shape.LINES,
        unit=Unit.SHARE,
        queries=(Query(expr=f"{failed} / ({count} > 0)", name="{{rubric}} {{kind}}"),),
        lowest=0,
    )


def _labels() -> Chart:
    counted = f"sum by (rubric, kind, label) (increase(ragvigil_score_labels_total{{{ROUTE}}}[1h]))"
    return Chart(
        title="Labels, last hour",
        says="Answers by the label that a rubric gave: refused, quote not found, and so on.",
        todo="A label that is new, or grows, says what went wrong.",
        shape=Shape.STACK,
        unit=Unit.PLAIN,
        queries=(Query(expr=f"{counted} > 0", name="{{rubric}} {{kind}}: {{label}}"),),
        lowest=0,
    )


def _coverage() -> Chart:
    return Chart(
        title="Coverage over $window",
        says="Scored records over those that the rubric applies to.",
        todo="Below half no mean is shown. `ragvigil doctor` tells which field the spans lack; "
        "for judged rubrics it is the sampled share that was judged.",
        shape=Shape.LINES,
        unit=Unit.SHARE,
        queries=(
            Query(
                expr=f"max by (rubric, kind) (ragvigil_score_coverage{{{SHOWN}}})",
                name="{{rubric}} {{kind}}",
            ),
        ),
        limits=Limits(red=0.5, low_is_bad=True),
        lowest=0,
        highest=1,
    )


def _absent() -> Chart:
    absent = f"sum by (rubric, kind) (increase(ragvigil_score_absent_total{{{ROUTE}}}[1h]))"
    return Chart(
        title="Records not seen, last hour",
        says="Records that a rubric could not score because a field is not in the spans. "
        "No data: none since the daemon started.",
        todo="`ragvigil doctor` gives the line of configuration that sends the field.",
        shape=Shape.LINES,
        unit=Unit.PLAIN,
        queries=(Query(expr=absent, name="{{rubric}} {{kind}}"),),
        lowest=0,
    )


def _changes() -> Section:
    ceiling = "max by (signal) (ragvigil_signal_ceiling)"
    value = f"max by (signal) (ragvigil_signal{{{ROUTE}}})"
    signals = Chart(
        title="Signals as a share of their ceilings",
        says="Rates and latency of all answers of the route, against the ceilings above which "
        "they count as broken.",
        todo="Above 100 %: compare with the marks, and read the newest traces of the route.",
        shape=Shape.LINES,
        unit=Unit.SHARE,
        queries=(
            Query(expr=f"{value} / on (signal) group_left () ({ceiling} > 0)", name="{{signal}}"),
        ),
        limits=Limits(orange=0.7, red=1),
        lowest=0,
    )
    notices = Chart(
        title="Changes noticed",
        says="What changed on the route, by kind, counted since the daemon started.",
        todo="A step that stands beside a drop is the first suspect; `ragvigil why ROUTE`.",
        shape=Shape.LINES,
        unit=Unit.PLAIN,
        queries=(
            Query(expr=f"max by (kind) (ragvigil_notices_total{{{ROUTE}}})", name="{{kind}}"),
        ),
        lowest=0,
    )
    return Section(title="Signals and changes", charts=(signals, notices))
