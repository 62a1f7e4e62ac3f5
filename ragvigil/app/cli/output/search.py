"""What `ragvigil search` prints."""

from __future__ import annotations

from rich.console import Console

from ragvigil.app.cli.output.console import JsonObject, minute, print_line, prints, short
from ragvigil.model import figures

COMMANDS = {
    "traces": "ragvigil trace {id}",
    "issues": "ragvigil issues show {id}",
    "incidents": "ragvigil incidents show {id}",
    "golden": "ragvigil golden show {id}",
}
"""What shows the thing of an id; an answer has no command of its own."""


@prints
def print_search(reply: JsonObject, console: Console) -> None:
    """The answers that were found, or what has this id; what was not looked at is said."""
    named = reply["named"]
    if named is not None:
        how = COMMANDS.get(named["kind"], "the page /answers/{id}").format(id=named["id"])
        print_line(console, f"an id: {how}")
        return
    if reply["why"]:
        print_line(console, f"looked for by words: {reply['why']}")
    for record in reply["records"]:
        _answer(record, console)
    if not reply["records"]:
        print_line(console, "nothing was found")
    _left_out(reply, console)


def _answer(record: JsonObject, console: Console) -> None:
    likeness = record["likeness"]
    near = f"  {figures.score(likeness)}" if likeness is not None else ""
    route = record["route"] or "(no route)"
    line = f"{minute(record['time'])}  {record['trace_id']}  {route}  {record['verdict']['state']}"
    print_line(console, f"{line}{near}", style="bold")
    print_line(console, f"  asked     {short(record['query'], console)}")
    print_line(console, f"  answered  {short(record['answer'], console)}")


def _left_out(reply: JsonObject, console: Console) -> None:
    vectors = reply["vectors"]
    if vectors and vectors["with_vector"] < vectors["answers"]:
        can = f"{figures.count(vectors['with_vector'])} of {figures.count(vectors['answers'])}"
        print_line(console, f"{can} questions have a vector; the others cannot be found so")
    if reply["is_part"]:
        since = minute(reply["since"])
        print_line(console, f"only answers since {since} were looked at: more are older")
    if reply["next"]:
        print_line(console, "there are more; --limit shows more of them")
