"""What a chart says and asks, as a value; `panels` turns it into a Grafana panel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Shape(Enum):
    """How a chart is drawn."""

    LINES = "timeseries"
    STACK = "timeseries, stacked"
    NUMBER = "stat"
    BARS = "bargauge"
    TABLE = "table"


class Unit(Enum):
    """Grafana's names of the units that ragvigil's metrics have."""

    SHARE = "percentunit"
    PLAIN = "short"
    SECONDS = "s"
    BYTES = "bytes"
    BYTES_A_SECOND = "Bps"
    A_SECOND = "cps"
    DOLLARS = "currencyUSD"
    STATE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A PromQL expression; `name` is its legend, or its column's heading in a table."""

    expr: str
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Where a value turns orange and red; with `low_is_bad` below them, else above.

    Both None says that no value of this chart is good or bad in itself.
    """

    orange: float | None = None
    red: float | None = None
    low_is_bad: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One panel. `says` tells what it shows, `todo` what to do when it is not as it should be."""

    title: str
    says: str
    todo: str
    shape: Shape
    unit: Unit
    queries: tuple[Query, ...]
    limits: Limits = Limits()
    width: int = 12
    height: int = 8
    states: Mapping[float, str] = field(default_factory=dict)
    columns: Mapping[str, Unit] = field(default_factory=dict)
    hidden_columns: tuple[str, ...] = ()
    lowest: float | None = None
    highest: float | None = None
    repeat: str | None = None
    links_to_route: bool = False
    band: tuple[str, str] | None = None
    """Names of the two queries between which the chart is filled, the lower one first."""
    dashed: str | None = None

    def description(self) -> str:
        """The text behind the panel's (i)."""
        return f"{self.says}\n\n**What to do:** {self.todo}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A row of a dashboard with its charts."""

    title: str
    charts: tuple[Chart, ...]
