"""From sections of charts to a dashboard: rows, variables, links, the marks of notices."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import count
from typing import Any

from grafana_foundation_sdk.builders import dashboard as build
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard as grafana

from deploy.grafana.chart import Section
from deploy.grafana.panels import SOURCE, panel

TAG = "ragvigil"
SCOPE = 'service=~"$service", environment=~"$environment"'
PAGES = "http://127.0.0.1:8088"
WINDOWS = ("15m", "30m", "90m", "6h", "24h")


def board(
    *,
    uid: str,
    title: str,
    says: str,
    variables: Iterable[Any],
    sections: Iterable[Section],
    marks: str | None = None,
    since: str = "now-24h",
    page: str | None = None,
) -> dict[str, Any]:
    """The dashboard as Grafana reads it. `marks` is the PromQL of notices drawn on every chart.

    `page` is the address of a page of ragvigil that says the same in sentences.
    """
    made = build.Dashboard(title).uid(uid).tags([TAG]).description(says)
    made.time(since, "now").refresh("1m").timezone("browser").editable()
    made.tooltip(grafana.DashboardCursorSync.CROSSHAIR).variables(
        [_source(), _ragvigil(), *variables]
    )
    others = build.DashboardLink("ragvigil").type(grafana.DashboardLinkType.DASHBOARDS)
    made.link(others.tags([TAG]).as_dropdown(True).include_vars(True).keep_time(True))
    if page:
        told = build.DashboardLink("this route in ragvigil").type(grafana.DashboardLinkType.LINK)
        made.link(told.url(page).target_blank(True))
    if marks:
        made.annotation(NoticeMarks(marks))
    numbers = count(1)
    for section in sections:
        made.with_row(build.Row(section.title).id(next(numbers)))
        for chart in section.charts:
            made.with_panel(panel(chart).id(next(numbers)))
    plain: dict[str, Any] = json.loads(JSONEncoder().encode(made.build()))
    return plain


def from_labels(
    name: str, label: str, metric: str, *, several: bool = False, hidden: bool = False
) -> build.QueryVariable:
    """A variable that offers the values which `label` has on `metric` (with its selector)."""
    made = build.QueryVariable(name).datasource(SOURCE).query(f"label_values({metric}, {label})")
    made.label(name).refresh(grafana.VariableRefresh.ON_TIME_RANGE_CHANGED)
    made.sort(grafana.VariableSort.ALPHABETICAL_ASC).multi(several).include_all(several)
    if hidden:
        made.hide(grafana.VariableHide.HIDE_VARIABLE)
    if several:
        made.all_value(".*").current(grafana.VariableOption(text="All", value="$__all"))
    return made


def window(chosen: str = "6h") -> build.CustomVariable:
    """The window over which means are shown."""
    options = [
        grafana.VariableOption(text=name, value=name, selected=name == chosen) for name in WINDOWS
    ]
    made = build.CustomVariable("window").label("window").values(",".join(WINDOWS))
    return made.options(options).current(grafana.VariableOption(text=chosen, value=chosen))


def noticed(selector: str) -> str:
    """When a notice was written: its counter rose, or came into being (then nothing has risen)."""
    counter = f"ragvigil_notices_total{{{selector}}}"
    first = f"({counter} unless {counter} offset 2m)"
    return f"(changes({counter}[2m]) > 0) or {first}"


class NoticeMarks(build.AnnotationQuery):
    """Marks on the charts, with the words that Prometheus annotations have and the SDK lacks."""

    def __init__(self, expr: str) -> None:
        super().__init__()
        self._internal = _Mark(
            name="notices", datasource=SOURCE, enable=True, icon_color="blue", expr=expr
        )


class _Mark(grafana.AnnotationQuery):
    def to_json(self) -> dict[str, object]:
        words = {
            "step": "60s",
            "titleFormat": "{{kind}}",
            "textFormat": "{{service}} {{environment}} {{route}}",
            "tagKeys": "kind",
        }
        return super().to_json() | words


def _source() -> build.DatasourceVariable:
    return build.DatasourceVariable("datasource").label("Prometheus").type("prometheus")


def _ragvigil() -> build.TextBoxVariable:
    """Where ragvigil's pages are: `[web] external_url`."""
    made = build.TextBoxVariable("ragvigil").label("ragvigil's pages").default_value(PAGES)
    return made.current(grafana.VariableOption(text=PAGES, value=PAGES))
