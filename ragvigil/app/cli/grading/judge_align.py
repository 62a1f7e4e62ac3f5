"""What `ragvigil judge align` prints."""

from __future__ import annotations

from rich.console import Console

from ragvigil.app.cli.output.console import JsonObject, print_line, prints
from ragvigil.model import figures

ADVICE = {
    "keep": "no other value agrees better than chance would have it: keep it",
    "too_few": "too few labels: it takes 30, and 8 that pass and 8 that fail; "
    "see `ragvigil labels`",
    "grades": "people gave grades or words, which no value decides",
}


@prints
def print_alignments(reply: JsonObject, console: Console) -> None:
    """Each judge with kappa before and after, and the line of the settings that changes it."""
    for row in reply["alignments"]:
        labels = figures.counted(row["labels"], "label")
        print_line(console, f"{row['rubric']} by {row['judge']}, {labels}", style="bold")
        if row["before"]["value"] is not None:
            now, after, gain = (_kappa(row[name]) for name in ("before", "after", "gain"))
            print_line(console, f"  now      kappa {now}, fails below {row['present']:g}")
            print_line(console, f"  fitted   kappa {after} on unseen labels, a gain of {gain}")
        print_line(console, f"  {_advice(row)}")
    if not reply["alignments"]:
        console.print("no label is on an answer that a judge has judged: see `ragvigil labels`")


def _advice(row: JsonObject) -> str:
    if row["advice"] == "change":
        return f"[scorers.fails_below] {row['rubric']} = {row['fails_below']:g}"
    return ADVICE[row["advice"]]


def _kappa(figure: JsonObject) -> str:
    """Kappa with its interval.

    >>> _kappa({"value": 0.5, "low": 0.4, "high": 0.6}), _kappa({"value": None})
    ('0.50 [0.40, 0.60]', '–')
    """
    if figure["value"] is None:
        return figures.UNKNOWN
    low, high = figures.score(figure["low"]), figures.score(figure["high"])
    return f"{figures.score(figure['value'])} [{low}, {high}]"
