"""Charts and PromQL of the daemon's own metrics, by instance."""

from __future__ import annotations

from typing import Any

from deploy.grafana.chart import Chart, Limits, Query, Shape, Unit

ON = 'instance=~"$instance"'
NONE_YET = " No data: none since the daemon started."
NEUTRAL = Limits()


def rate(metric: str, by: str) -> str:
    """A second, over what the chart's width allows."""
    return f"sum by ({by}) (rate({metric}{{{ON}}}[$__rate_interval]))"


def hourly(metric: str, by: str = "instance") -> str:
    """How many in the last hour."""
    return f"sum by ({by}) (increase({metric}{{{ON}}}[1h]))"


def quantile(q: float, metric: str, by: str = "") -> str:
    """Of a histogram of seconds; no data where nothing happened."""
    labels = f"le, {by}" if by else "le"
    buckets = f"rate({metric}_bucket{{{ON}}}[$__rate_interval])"
    return f"histogram_quantile({q}, sum by ({labels}) ({buckets}))"


def lines(
    title: str,
    says: str,
    todo: str,
    *queries: Query,
    unit: Unit = Unit.PLAIN,
    limits: Limits = NEUTRAL,
    **more: Any,
) -> Chart:
    """A chart over time whose axis begins at 0."""
    given: dict[str, Any] = {"lowest": 0, "width": 8} | more
    return Chart(
        title=title,
        says=says,
        todo=todo,
        shape=Shape.LINES,
        unit=unit,
        queries=queries,
        limits=limits,
        **given,
    )


def number(title: str, says: str, todo: str, expr: str, limits: Limits, **more: Any) -> Chart:
    """One number, the newest."""
    given: dict[str, Any] = {"unit": Unit.STATE, "width": 3, "height": 4} | more
    return Chart(
        title=title,
        says=says,
        todo=todo,
        shape=Shape.NUMBER,
        queries=(Query(expr=expr),),
        limits=limits,
        **given,
    )
