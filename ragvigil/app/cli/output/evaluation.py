"""What `ragvigil evaluate` prints: how many failed and where, means, and the worst cases."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from ragvigil.app.cli.output.console import JsonObject, print_line, prints, table_of
from ragvigil.model.figures import UNKNOWN, score

MOST_FAILURES = 10
LEFT_OUT = ("hit@", "precision@", "ndcg@1", "ndcg@3", "ndcg@5", "recall@1", "recall@3")
"""Values that the table leaves out: the results' file has them."""
KEPT = ("recall@10", "ndcg@10")


@prints
def print_evaluation(reply: Any, console: Console) -> None:
    """Prints a run's document."""
    print_line(console, reply["title"], "red" if reply["failed"] else "green")
    for note in reply["notes"]:
        print_line(console, f"  {note}")
    for part in reply["parts"]:
        if not part["slice"]:
            _print_whole(part, console)
    _print_slices(reply["parts"], console)
    _print_failures(reply["failures"], console)


def _print_whole(part: JsonObject, console: Console) -> None:
    print_line(console, f"\n{part['condition']} context: {part['cases']} cases", "bold")
    for reading, n in part["readings"].items():
        print_line(console, f"  {n} {reading.replace('_', ' ')}")
    table = table_of("value", "layer", "mean", "95 % interval", "n", "a difference that would show")
    for name, mean in part["means"].items():
        if name in KEPT or not name.startswith(LEFT_OUT):
            interval = UNKNOWN
            if mean["low"] is not None:
                interval = f"{score(mean['low'])} to {score(mean['high'])}"
            numbers = (score(mean["mean"]), interval, str(mean["n"]), score(mean["shows"]))
            table.add_row(name, mean["layer"].replace("_", " "), *numbers)
    console.print(table)


def _print_slices(parts: list[JsonObject], console: Console) -> None:
    worst = sorted(
        (part for part in parts if part["slice"] and part["failed"]),
        key=lambda part: -part["failed"] / part["cases"],
    )
    if not worst:
        return
    print_line(console, "\nslices by share that failed", "bold")
    table = table_of("slice", "context", "failed", "cases")
    for part in worst[:MOST_FAILURES]:
        name = ", ".join(f"{key} = {value}" for key, value in part["slice"].items())
        table.add_row(name, part["condition"], str(part["failed"]), str(part["cases"]))
    console.print(table)


def _print_failures(failures: list[JsonObject], console: Console) -> None:
    if not failures:
        return
    print_line(console, "\nfailed, the furthest upstream first", "bold")
    for failure in failures[:MOST_FAILURES]:
        mark = " (must pass)" if failure["must_pass"] else ""
        reading = failure["reading"].replace("_", " ")
        print_line(console, f"  {failure['case_id']}{mark}: {reading}: {failure['why']}")
    if (more := len(failures) - MOST_FAILURES) > 0:
        print_line(console, f"  and {more} more: --out writes all of them")
