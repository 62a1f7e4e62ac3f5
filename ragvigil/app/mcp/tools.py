"""What a coding agent may ask: each tool is a GET of the API, cut to what a model reads."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mcp.server.mcpserver import MCPServer, Resolve
from mcp.types import ToolAnnotations
from pydantic import Field

from ragvigil.app.client.paths import path_of
from ragvigil.app.mcp.caller import Answer, Read, read_for

Daemon = Annotated[Read, Resolve(read_for)]
Service = Annotated[str, Field(description="this service only")]
Route = Annotated[str, Field(description="this route only")]
Since = Annotated[str, Field(description="ISO 8601, epoch seconds, or how long ago: 6h, 7d")]
Limit = Annotated[int, Field(ge=1, le=100, description="how many at most")]
Characters = Annotated[
    int, Field(ge=100, le=1_000_000, description="longer texts are cut, and say so")
]

READ_ONLY = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
TEXT_CHARACTERS = 2_000


def why(daemon: Daemon, route: Route = "", service: Service = "") -> Answer:
    """What is wrong right now, in which layer, since when and why: ask this first.

    Without an open incident: what changed lately, and what could be seen at all.
    """
    return daemon("why", route=route, service=service)


def incidents(
    daemon: Daemon,
    state: Literal["", "open", "acknowledged", "snoozed", "resolved"] = "",
    service: Service = "",
    since: Since = "7d",
    limit: Limit = 20,
) -> Answer:
    """Incidents, newest first: one a cause, with its layer and what changed before it."""
    return daemon("incidents", state=state, service=service, since=since, limit=limit)


def incident(daemon: Daemon, incident_id: str) -> Answer:
    """One incident: its message, what is worse, what changed before, what people did."""
    return daemon(path_of("incidents", incident_id))


def issues(
    daemon: Daemon,
    state: Literal["", "new", "ongoing", "escalating", "regressed", "resolved"] = "",
    service: Service = "",
    route: Route = "",
    limit: Limit = 20,
) -> Answer:
    """Issues, the most urgent first: failing answers with the same cause, under one name."""
    return daemon("issues", state=state, service=service, route=route, limit=limit)


def issue(daemon: Daemon, issue_id: str, characters: Characters = TEXT_CHARACTERS) -> Answer:
    """One issue: counts, routes, versions, examples with trace ids, root cause, history."""
    return _cut(daemon(path_of("issues", issue_id)), characters)


def trace(daemon: Daemon, trace_id: str, characters: Characters = TEXT_CHARACTERS) -> Answer:
    """One trace: question, chunks, prompt, answer, and every score with its reason."""
    return _cut(daemon(path_of("traces", trace_id)), characters)


def records(
    daemon: Daemon,
    rubric: Annotated[str, Field(description="only answers with a score of this rubric")] = "",
    below: Annotated[
        float | None, Field(ge=0, le=1, description="only scores under this; needs a rubric")
    ] = None,
    route: Route = "",
    since: Since = "24h",
    limit: Limit = 20,
    characters: Characters = TEXT_CHARACTERS,
) -> Answer:
    """Answers, newest first: to find the trace ids of those that a rubric scored low."""
    filters = {"rubric": rubric, "below": below, "route": route, "since": since}
    return _cut(daemon("records", **filters, limit=limit), characters)


def deltas(
    daemon: Daemon,
    route: Route = "",
    rubric: Annotated[str, Field(description="this rubric only")] = "",
    moved: Annotated[bool, Field(description="only what moved in the last 6 hours")] = True,
    limit: Limit = 50,
) -> Answer:
    """Mean score by rubric and route, beside its own past. Rubrics are never averaged."""
    return daemon("deltas", route=route, rubric=rubric, moved=moved, limit=limit)


def topics(daemon: Daemon, service: Service = "") -> Answer:
    """What users ask about: each topic's share, failures, thumbs-down and golden cases."""
    return daemon("topics", service=service)


def doctor(daemon: Daemon) -> Answer:
    """What the spans lack, which rubrics that switches off, and the line that mends it."""
    return daemon("doctor")


def status(daemon: Daemon) -> Answer:
    """What ragvigil itself receives, scores and stores right now, and its judge's state."""
    return daemon("status")


TOOLS = (why, incidents, incident, issues, issue, trace, records, deltas, topics, doctor, status)


def add_tools(server: MCPServer[Any]) -> None:
    """Adds every tool, marked as one that changes nothing."""
    for tool in TOOLS:
        server.add_tool(tool, annotations=READ_ONLY)


def _cut(answer: Answer, characters: int) -> Answer:
    """The answer with each text cut to `characters`; what is left out is said.

    >>> _cut({"answer": "abcdef", "spans": [3]}, 4)
    {'answer': 'abcd… (2 characters more)', 'spans': [3]}
    """

    def cut(value: Any) -> Any:
        if isinstance(value, str) and len(value) > characters:
            return f"{value[:characters]}… ({len(value) - characters} characters more)"
        if isinstance(value, dict):
            return {key: cut(inner) for key, inner in value.items()}
        return [cut(inner) for inner in value] if isinstance(value, list) else value

    return {key: cut(value) for key, value in answer.items()}
