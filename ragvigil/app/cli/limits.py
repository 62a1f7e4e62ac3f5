"""`ragvigil limits`: how fast each layer shows a change, at a given traffic. Needs no daemon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from json import dumps
from typing import TYPE_CHECKING, Annotated

import typer

from ragvigil.app.cli.input.options import Json

if TYPE_CHECKING:
    from alerts.signals.limits import Limit, Service

WORDS = {
    "notice": "every change is reported at once, and pages nobody",
    "broken": "pages; 'too few' is what its longest window cannot prove at this traffic",
    "moved": "length, citations, chunks, local scores: a ticket, and it starts an audit",
    "audit": "pages where the judge confirms 10 points; matched by topic, half the pairs do",
    "drift": "a lasting drop pages; here by what the judged sample alone can prove",
}


def limits(
    requests: Annotated[float, typer.Option(min=0.1, help="Requests an hour, all routes.")],
    routes: Annotated[int, typer.Option(min=1, help="Routes that share them.")] = 1,
    sample: Annotated[float, typer.Option(min=0, max=1, help="Share that is judged.")] = 0.07,
    sd: Annotated[
        float, typer.Option(min=0.001, max=0.5, help="Standard deviation of judged scores.")
    ] = 0.27,
    overdispersion: Annotated[
        float, typer.Option(min=1, help="How much more hourly means vary than by chance.")
    ] = 1.0,
    json: Json = False,
) -> None:
    """How fast a change shows, by layer, and how small a drop. Needs no daemon."""
    from alerts.signals.limits import Service

    service = Service(
        requests=requests, routes=routes, sample=sample, sd=sd, overdispersion=overdispersion
    )
    report(service, as_json=json)


def report(service: Service, *, as_json: bool) -> None:
    """Prints the limits of a service."""
    from alerts.signals.limits import limits as limits_of

    rows = limits_of(service)
    if as_json:
        plain = [asdict(row) for row in rows]
        print(dumps({"service": asdict(service), "limits": plain}))
    else:
        _show(rows, service)


def _show(rows: Sequence[Limit], service: Service) -> None:
    from rich.table import Table

    from ragvigil.app.cli.output.console import open_console

    table = Table(box=None, pad_edge=False)
    for heading in ("layer", "sees", "from"):
        table.add_column(heading)
    for heading in ("one route", "all routes", "calls"):
        table.add_column(heading, justify="right", no_wrap=True)
    for index, row in enumerate(rows):
        is_first = not index or rows[index - 1].layer != row.layer
        calls = "" if row.calls is None else f"{row.calls:,}"
        table.add_row(row.layer if is_first else "", row.what, row.needs, *_cells(row), calls)
    console = open_console()
    console.print(_heading(service))
    console.print(table)
    for layer, words in WORDS.items():
        console.print(f"{layer:<7} {words}")


def _heading(service: Service) -> str:
    routes = f"{service.routes} route{'' if service.routes == 1 else 's'}"
    return (
        f"{service.requests:g} requests an hour on {routes}, {100 * service.sample:g} % judged, "
        f"scores with a standard deviation of {service.sd:g}"
    )


def _cells(row: Limit) -> tuple[str, str]:
    """One route alone, and all routes together; a change notice is about one route."""
    if row.layer == "drift":
        return _points(row.route_points), _points(row.pooled_points)
    if row.layer == "notice":
        return _minutes(row.route_minutes), ""
    return _minutes(row.route_minutes), _minutes(row.pooled_minutes)


def _points(value: float | None) -> str:
    return "nothing" if value is None else f"≥ {value:.0f} points"


def _minutes(value: float | None) -> str:
    """Minutes in words.

    >>> _minutes(11.2), _minutes(300.0), _minutes(None)
    ('11 min', '5.0 h', 'too few')
    """
    if value is None:
        return "too few"
    return f"{max(1.0, value):.0f} min" if value < 120 else f"{value / 60:.1f} h"
