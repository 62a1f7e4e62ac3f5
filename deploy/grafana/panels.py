"""From a `Chart` to the builder of a Grafana panel.

A panel without data says "no data": nothing here turns an absent series into 0.
"""

from __future__ import annotations

from typing import Any

from grafana_foundation_sdk.builders import bargauge, common, prometheus, stat, table, timeseries
from grafana_foundation_sdk.builders import dashboard as build
from grafana_foundation_sdk.models import common as looks
from grafana_foundation_sdk.models import dashboard as grafana
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from deploy.grafana.chart import Chart, Limits, Query, Shape

SOURCE = grafana.DataSourceRef(type_val="prometheus", uid="${datasource}")
NO_DATA = "no data"
ROUTE_DASHBOARD = "ragvigil-route"
GREEN, ORANGE, RED, BLUE = "green", "orange", "red", "blue"

Builder = Any
"""The five panel builders share their verbs, and no base class says so."""


def panel(chart: Chart) -> Builder:
    """The builder of the panel: words, queries, unit, thresholds, and what its shape adds."""
    made = _shaped(chart)
    made.title(chart.title).description(chart.description()).datasource(SOURCE)
    made.unit(chart.unit.value).no_value(NO_DATA).thresholds(_thresholds(chart.limits))
    made.span(chart.width).height(chart.height)
    for number, query in enumerate(chart.queries):
        made.with_target(_target(query, chart.shape, chr(ord("A") + number)))
    if chart.states:
        made.mappings([_states(chart)])
    if chart.lowest is not None:
        made.min(chart.lowest)
    if chart.highest is not None:
        made.max(chart.highest)
    if chart.repeat:
        made.repeat(chart.repeat).repeat_direction("h").max_per_row(3)
    if chart.links_to_route:
        made.data_links([_page_link(chart.shape), _route_link(chart.shape)])
    return made


def _shaped(chart: Chart) -> Builder:
    match chart.shape:
        case Shape.LINES | Shape.STACK:
            return _lines(chart)
        case Shape.NUMBER:
            number = stat.Panel().reduce_options(_newest()).graph_mode(looks.BigValueGraphMode.NONE)
            return number.color_mode(looks.BigValueColorMode.VALUE).color_scheme(_by_threshold())
        case Shape.BARS:
            bars = bargauge.Panel().reduce_options(_newest()).color_scheme(_by_threshold())
            return bars.orientation(looks.VizOrientation.HORIZONTAL)
        case Shape.TABLE:
            return _table(chart)


def _lines(chart: Chart) -> Builder:
    # Gaps stay gaps: a line drawn across hours without traffic would be made up.
    made = timeseries.Panel().span_nulls(False).line_width(1).fill_opacity(0)
    made.show_points(looks.VisibilityMode.AUTO)
    made.tooltip(common.VizTooltipOptions().mode(looks.TooltipDisplayMode.MULTI))
    legend = common.VizLegendOptions().display_mode(looks.LegendDisplayMode.LIST)
    made.legend(legend.placement(looks.LegendPlacement.BOTTOM).show_legend(True).calcs([]))
    if chart.shape is Shape.STACK:
        made.stacking(common.StackingConfig().mode(looks.StackingMode.NORMAL)).fill_opacity(40)
    if chart.limits.red is not None:
        line = common.GraphThresholdsStyleConfig()
        made.thresholds_style(line.mode(looks.GraphThresholdsStyleMode.DASHED))
    if chart.band:
        low, high = chart.band
        made.override_by_name(low, [_value("custom.lineWidth", 0)])
        fill = [_value("custom.fillBelowTo", low), _value("custom.fillOpacity", 15)]
        made.override_by_name(high, [_value("custom.lineWidth", 0), *fill])
    if chart.dashed:
        dashes = _value("custom.lineStyle", {"fill": "dash", "dash": [8, 6]})
        made.override_by_name(chart.dashed, [dashes])
    return made


def _table(chart: Chart) -> Builder:
    made = table.Panel().show_header(True).cell_height(looks.TableCellHeight.SM)
    # Of one query Grafana calls the column Value, of several Value #A, Value #B and so on.
    single = len(chart.queries) == 1
    names = {
        "Value" if single else f"Value #{chr(ord('A') + number)}": query.name
        for number, query in enumerate(chart.queries)
    }
    hidden = dict.fromkeys(("Time", *chart.hidden_columns), True)
    organize = {"excludeByName": hidden, "renameByName": names, "indexByName": {}}
    made.with_transformation(grafana.DataTransformerConfig(id_val="merge", options={}))
    made.with_transformation(grafana.DataTransformerConfig(id_val="organize", options=organize))
    for name, unit in chart.columns.items():
        made.override_by_name(name, [_value("unit", unit.value)])
    return made


def _target(query: Query, shape: Shape, ref: str) -> prometheus.Dataquery:
    made = prometheus.Dataquery().expr(query.expr).ref_id(ref).datasource(SOURCE)
    if shape is Shape.TABLE:
        return made.instant().format(PromQueryFormat.TABLE)
    made.legend_format(query.name or "__auto")
    return made.range() if shape in (Shape.LINES, Shape.STACK) else made.instant()


def _thresholds(limits: Limits) -> build.ThresholdsConfig:
    steps = [grafana.Threshold(value=None, color=BLUE if limits == Limits() else GREEN)]
    if limits.low_is_bad:
        steps = _rising(limits)
    else:
        given = ((limits.orange, ORANGE), (limits.red, RED))
        steps += [grafana.Threshold(value=at, color=color) for at, color in given if at is not None]
    return build.ThresholdsConfig().mode(grafana.ThresholdsMode.ABSOLUTE).steps(steps)


def _rising(limits: Limits) -> list[grafana.Threshold]:
    first = RED if limits.red is not None else ORANGE
    steps = [grafana.Threshold(value=None, color=first)]
    if limits.red is not None:
        next_color = ORANGE if limits.orange is not None else GREEN
        steps.append(grafana.Threshold(value=limits.red, color=next_color))
    if limits.orange is not None:
        steps.append(grafana.Threshold(value=limits.orange, color=GREEN))
    return steps


def _states(chart: Chart) -> grafana.ValueMap:
    words = {
        f"{value:g}": grafana.ValueMappingResult(text=text, index=place)
        for place, (value, text) in enumerate(chart.states.items())
    }
    return grafana.ValueMap(options=words)


def _route_link(shape: Shape) -> build.DashboardLink:
    where = "__data.fields" if shape is Shape.TABLE else "__field.labels"
    names = ("service", "environment", "route")
    chosen = "&".join(f"var-{name}=${{{where}.{name}}}" for name in names)
    link = build.DashboardLink("this route in detail").target_blank(False)
    return link.url(f"/d/{ROUTE_DASHBOARD}?{chosen}&${{__url_time_range}}")


def route_page(labels: str) -> str:
    """The page of a route for the time shown; `labels` is a pattern of `{name}` for its labels."""
    names = ("service", "environment", "route")
    chosen = "&".join(f"{name}=${{{labels.format(name=name)}:percentencode}}" for name in names)
    return f"${{ragvigil}}/routes?{chosen}&since=${{__from}}&until=${{__to}}"


def _page_link(shape: Shape) -> build.DashboardLink:
    where = "__data.fields" if shape is Shape.TABLE else "__field.labels"
    link = build.DashboardLink("this route in ragvigil").target_blank(True)
    return link.url(route_page(f"{where}.{{name}}"))


def _newest() -> common.ReduceDataOptions:
    return common.ReduceDataOptions().calcs(["lastNotNull"]).values(False).fields("")


def _by_threshold() -> build.FieldColor:
    return build.FieldColor().mode(grafana.FieldColorModeId.THRESHOLDS)


def _value(name: str, value: object) -> grafana.DynamicConfigValue:
    return grafana.DynamicConfigValue(id_val=name, value=value)
