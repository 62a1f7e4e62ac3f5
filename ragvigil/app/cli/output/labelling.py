"""What `ragvigil labels queue` prints: queues, or the next answer without anybody's verdict."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ragvigil.app.cli.output.console import JsonObject, print_line, prints, table_of


@prints
def print_queues(reply: JsonObject, console: Console) -> None:
    """A line a queue, then how far people agree."""
    table = table_of("queue", "asks by", "filled with", "route", "labelled by you")
    for queue in reply["queues"]:
        place = f"{queue['done']} of {queue['total']}" if queue["total"] else "no answer in it"
        names = (queue["name"], queue["rubric"], queue["fill"], queue["route"] or "all")
        table.add_row(*map(Text, (*names, place)))
    console.print(table)
    for people in reply["people"]:
        equal = f"{100 * people['agreement']:.0f} % equal on {people['answers']} answers"
        print_line(console, f"{people['rubric']}: people among themselves, {equal}")


@prints
def print_next(reply: JsonObject, console: Console) -> None:
    """Question, chunks and answer, then what is asked and the verdicts to choose from."""
    queue, answer, rubric = reply["queue"], reply["answer"], reply["rubric"]
    if answer is None:
        print_line(console, f"nothing to label: {queue['done']} of {queue['total']} are done")
        return
    place = f"{queue['done'] + 1} of {queue['total']}"
    ids = f"trace {answer['trace_id']}, record {answer['record_id']}"
    print_line(console, f"{queue['name']}  {place}, {ids}", style="bold")
    print_line(console, f"  question  {answer['question']}")
    for chunk in answer["chunks"]:
        print_line(console, f"  chunk     [{chunk['id']}] {chunk['content'] or '(no text)'}")
    print_line(console, f"  answer    {answer['answer']}")
    print_line(console, rubric["asks"], style="bold")
    for choice in rubric["choices"]:
        print_line(console, f"  {choice['name']:<9} {choice['means']}".rstrip())
