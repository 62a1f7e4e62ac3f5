"""What `ragvigil deltas` prints: tables for people, one JSON document for scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ragvigil.app.cli.output.console import JsonObject, print_line, prints, sparkline
from ragvigil.model import figures
from ragvigil.model.delta import ESTIMATE_WORDS, Estimate

MOST_LINES = 10
"""Lines of routes and rubrics without `--all`."""
FAILED = ":failed"
LAYERS = ("retrieval", "generation", "cross_cutting")
NO_WINDOW: JsonObject = {
    "mean": None, "baseline": None, "delta": None, "low": None, "high": None, "n": 0, "moved": "no"
}  # fmt: skip
Key = tuple[str, str, str, str, str]
"""Layer, service, environment, route, rubric."""
Windows = dict[str, JsonObject]
"""The newest row of each window, by its length: `30m`, `6h`."""


@prints
def print_deltas(reply: JsonObject, console: Console) -> None:
    """What moved first, the widest movement first, and MOST_LINES in all; how many are left."""
    rows = _by_key(_without_doubles(reply["deltas"]))
    shown = dict(list(rows.items())[:MOST_LINES])
    _print(shown, console)
    if len(shown) < len(rows):
        moved = sum(_has_moved(rows[key]) for key in rows.keys() - shown.keys())
        rest = f"{moved} of them moved" if moved else "none of them moved"
        print_line(console, f"and {len(rows) - len(shown)} more, {rest}: `ragvigil deltas --all`")


@prints
def print_all_deltas(reply: JsonObject, console: Console) -> None:
    """Every route and rubric, what moved first, and the rates of all labels."""
    _print(_by_key(reply["deltas"]), console)


def _print(rows: Mapping[Key, Windows], console: Console) -> None:
    """A table per layer, a line per route and rubric: layers are never mixed.

    On a terminal too narrow for a table, each route has its lines under it, with what moved.
    """
    if not rows:
        console.print("no scores yet: send spans, then look again in a few minutes")
    for layer in LAYERS:
        lines = {key: windows for key, windows in rows.items() if key[0] == layer}
        table = _layer_table(layer, lines)
        if lines and _fits(table, console):
            console.print(table)
        elif lines:
            _layer_lines(layer, lines, console)
    _print_bases(rows, console)
    newest = [windows["6h"] for windows in rows.values() if "6h" in windows]
    if newest and all(row["baseline"] is None for row in newest):
        console.print("not enough yet to compare with: the columns before and moved by stay empty")


def _print_bases(rows: Mapping[Key, Windows], console: Console) -> None:
    """On which of the answers means rest that are not of all of them, a line for each basis."""
    shares: dict[str, list[float]] = {}
    rubrics: dict[str, list[str]] = {}
    for key, windows in rows.items():
        row = windows.get("6h", NO_WINDOW)
        if row.get("judged_share") is not None:
            how = ESTIMATE_WORDS[Estimate(row.get("estimate") or "")]
            shares.setdefault(how, []).append(100 * row["judged_share"])
            rubrics.setdefault(how, []).append(key[-1])
    for how, parts in shares.items():
        low, high = f"{min(parts):.2g}", f"{max(parts):.2g}"
        share = low if low == high else f"{low} to {high}"
        of = ", ".join(dict.fromkeys(rubrics[how]))
        print_line(console, ", ".join(filter(None, (f"{share} % judged", how))) + f": {of}")


def _fits(table: Table, console: Console) -> bool:
    # Measured on a console without bounds: rich would shrink the columns to fit.
    options = console.options.update(max_width=10_000)
    return Measurement.get(console, options, table).maximum <= console.width


def _without_doubles(rows: Sequence[JsonObject]) -> list[JsonObject]:
    """Without the rates of failing answers where the mean of their rubric is there, too."""
    rubrics = {row["rubric"] for row in rows}
    return [
        row
        for row in rows
        if not (row["rubric"].endswith(FAILED) and row["rubric"].removesuffix(FAILED) in rubrics)
    ]


def _by_key(rows: Sequence[JsonObject]) -> dict[Key, Windows]:
    """The windows of each route and rubric that has scores, what moved first."""
    windows: dict[Key, Windows] = {}
    for row in rows:
        key = (row["layer"], row["service"], row["environment"], row["route"], row["rubric"])
        windows.setdefault(key, {})[row["window"]] = row
    return {
        key: windows[key]
        for key in sorted(windows, key=lambda key: (_distance(windows[key]), key))
        if any(row["n"] for row in windows[key].values())
    }


def _has_moved(windows: Windows) -> bool:
    return windows.get("6h", NO_WINDOW)["moved"] in ("fell", "rose")


def _distance(windows: Windows) -> float:
    """How far it moved, below 0; 0 where it did not."""
    return -abs(windows["6h"]["delta"] or 0.0) if _has_moved(windows) else 0.0


def _layer_table(layer: str, lines: Mapping[Key, Windows]) -> Table:
    table = Table(title=layer, title_justify="left", box=None, pad_edge=False)
    for heading in ("service", "route", "rubric"):
        table.add_column(heading, no_wrap=True)
    for heading in ("30 m", "6 h", "before", "moved by, points", "n 6 h"):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("since", "24 h"):
        table.add_column(heading, no_wrap=True)
    for key, windows in lines.items():
        table.add_row(*(Text(cell) for cell in _cells(key, windows)))
    return table


def _layer_lines(layer: str, lines: Mapping[Key, Windows], console: Console) -> None:
    title = f"{layer:<28} {'6 h':>5}  {'moved by, points':<21} since"
    print_line(console, title, style="italic")
    last_place = ""
    for key, windows in lines.items():
        service, route, rubric, _, mean, _, moved, _, since, _ = _cells(key, windows)
        place = f"{service} {route}"
        if place != last_place:
            print_line(console, place, style="bold")
        last_place = place
        print_line(console, f"  {rubric:<26} {mean:>5}  {moved:<21} {since}")


def _cells(key: Key, windows: Windows) -> list[str]:
    _, service, environment, route, rubric = key
    row = windows.get("6h", NO_WINDOW)
    low, high = figures.points(row["low"]), figures.points(row["high"])
    interval = f" [{low}, {high}]" if row["low"] is not None else ""
    return [
        f"{service} {environment}".strip(),
        route,
        rubric,
        figures.score(windows.get("30m", NO_WINDOW)["mean"]),
        figures.score(row["mean"]),
        figures.score(row["baseline"]),
        f"{figures.points(row['delta'])}{interval}",
        str(row["n"]),
        f"{row['moved']} {str(row['since'])[:16]}" if _has_moved(windows) else "",
        sparkline(row.get("hours") or []),
    ]
