"""The agent's seven tools: they only read, and only the issue's own service.

A tool's docstring and field descriptions are what the model reads of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from clustering.rca.contrasts import alike, contrasts
from clustering.rca.reader import Form, IssueReader
from clustering.rca.report import hours_of, time_text
from ragvigil.model.issue import ComparedRecord, Failure, Issue

Id = Annotated[str, Field(max_length=64)]
Word = Annotated[str, Field(max_length=200)]
PAGE = 15
SHOWN = 3_000
"""Characters of a long value that one `read_span` call returns."""
MOST_CONTRASTS, MOST_HOURS = 20, 48


class Refused(ValueError):
    """The call cannot be answered; the text tells the model why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The issue and its reader; refuses traces of other services."""

    issue: Issue
    reading: IssueReader

    def records(self, trace_id: str) -> Sequence[Form]:
        """The records of a trace that belong to the issue's service. Raises Refused."""
        owner = (self.issue.service, self.issue.environment)
        rows = self.reading.trace(trace_id.lower())
        own = [record for record in rows if (record["service"], record["environment"]) == owner]
        if not own:
            raise Refused("no trace with this id belongs to the service of the issue")
        return own

    def spans(self, trace_id: str) -> Sequence[Form]:
        """The spans of a trace of the issue's service. Raises Refused."""
        self.records(trace_id)  # raises if the trace is not of the service
        return self.reading.spans(trace_id.lower())

    def span(self, trace_id: str, span_id: str) -> Form:
        """A span of such a trace. Raises Refused."""
        spans = self.spans(trace_id)
        for span in spans:
            if span["SpanId"] == span_id.lower():
                return span
        raise Refused("the trace has no span with this id" if spans else "its spans are gone")


class ReadTool(BaseModel, ABC):
    """A tool: its fields are the arguments, its docstring is the description for the model."""

    model_config = ConfigDict(extra="forbid")

    @abstractmethod
    def read(self, case: Case) -> object:
        """The result, to be written as JSON. Raises Refused, StoreError."""


class ListMembers(ReadTool):
    """Lists failing records of the issue, newest first: ids, route, question, why it fails."""

    offset: int = Field(default=0, ge=0, le=100_000)
    route: Word = Field(default="", description="only this route")

    def read(self, case: Case) -> object:
        members = [member for member in case.reading.members() if self.route in ("", member.route)]
        shown = members[self.offset : self.offset + PAGE]
        return {"members": [*map(_member, shown)], "known": len(members)}


class ReadTrace(ReadTool):
    """Reads a trace: its records with scores, chunks and answer, and the tree of its spans."""

    trace_id: Id

    def read(self, case: Case) -> object:
        records = [
            {name: record.get(name) for name in RECORD} for record in case.records(self.trace_id)
        ]
        return {"records": records, "spans": [*map(_span, case.spans(self.trace_id))]}


class ReadSpan(ReadTool):
    """Reads a span: status, attributes, events. A long value is read on by name and offset."""

    trace_id: Id
    span_id: Id
    attribute: Word = Field(default="", description="only this attribute")
    offset: int = Field(default=0, ge=0, description="from this character of the attribute")

    def read(self, case: Case) -> object:
        span = case.span(self.trace_id, self.span_id)
        if not self.attribute:
            shown = {name: span.get(name) for name in SPAN}
            return {**_span(span), **shown}
        value = span["SpanAttributes"].get(self.attribute)
        if value is None:
            raise Refused("the span has no attribute of this name")
        part = value[self.offset : self.offset + SHOWN]
        return {"value": part, "from": self.offset, "characters": len(value)}


class GetChildren(ReadTool):
    """Lists the spans directly under a span; without a span id, those without a parent."""

    trace_id: Id
    span_id: Id = ""

    def read(self, case: Case) -> object:
        spans = case.spans(self.trace_id)
        span_ids = {span["SpanId"] for span in spans}
        parent = self.span_id.lower()
        if parent and parent not in span_ids:
            raise Refused("the trace has no span with this id")
        children = [
            span
            for span in spans
            if span["ParentSpanId"] == parent
            or (not parent and span["ParentSpanId"] not in span_ids)
        ]
        return {"spans": [*map(_span, children)]}


class SearchTraces(ReadTool):
    """Searches records of the service, newest first; `words` must stand in question or answer."""

    route: Word = ""
    rubric: Word = Field(default="", description="only records that this rubric has scored")
    label: Word = Field(default="", description="only records with this label of a score")
    words: Word = ""

    def read(self, case: Case) -> object:
        records = case.reading.search(route=self.route, rubric=self.rubric, label=self.label)
        words = self.words.casefold()
        texts = [
            (record, f"{record.get('query')} {record.get('answer')}".casefold())
            for record in records
        ]
        shown = [record for record, text in texts if words in text][:PAGE]
        return {"records": [{name: record.get(name) for name in FOUND} for record in shown]}


class CompareWithPassing(ReadTool):
    """Tells what failing records have more often than passing ones of the same routes.

    With the trace id of a member also passing records that were asked alike.
    """

    trace_id: Id = ""

    def read(self, case: Case) -> object:
        failing, passing = case.reading.failing(), case.reading.passing()
        more_often = [
            {
                contrast.dimension: contrast.value,
                "members": f"{contrast.failing} of {contrast.of_failing}",
                "passing": f"{contrast.passing} of {contrast.of_passing}",
            }
            for contrast in contrasts(failing, passing)[:MOST_CONTRASTS]
        ]
        compared = {"members": len(failing), "passing": len(passing), "more_often": more_often}
        if not self.trace_id:
            return compared
        question = next((record.get("query") for record in case.records(self.trace_id)), None)
        return {**compared, "asked_alike": [*map(_seen, alike(question, passing))]}


class Timeline(ReadTool):
    """Tells members and requests by hour, and what changed of the service in that time."""

    def read(self, case: Case) -> object:
        hours = hours_of(case.reading, case.reading.members())
        shown = [
            (time_text(hour.start_unix_nano), hour.members, hour.requests)
            for hour in hours[-MOST_HOURS:]
        ]
        changes = [
            {"time": time_text(change.time_unix_nano), "kind": change.kind, "text": change.text}
            | ({"route": change.route} if change.route else {})
            for change in case.reading.changes()
        ]
        return {
            "first_member": time_text(case.issue.first_unix_nano),
            "changes": changes[-PAGE:],
            "hour, members, requests": shown,
        }


TOOLS: Mapping[str, type[ReadTool]] = {
    "list_members": ListMembers,
    "read_trace": ReadTrace,
    "read_span": ReadSpan,
    "get_children": GetChildren,
    "search_traces": SearchTraces,
    "compare_with_passing": CompareWithPassing,
    "timeline": Timeline,
}
RECORD = (
    "record_id", "time", "route", "query", "answer", "error", "scores", "retrieved", "reranked",
    "context", "citations", "absent", "dimensions", "feedback", "latencies", "shape",
)  # fmt: skip
SPAN = ("ServiceName", "StatusMessage", "SpanAttributes", "Events.Name", "Events.Attributes")
FOUND = ("trace_id", "record_id", "time", "route", "query", "answer", "scores")


def _member(failure: Failure) -> dict[str, object]:
    return {
        "trace_id": failure.trace_id,
        "record_id": failure.record_id,
        "time": time_text(failure.time_unix_nano),
        "route": failure.route,
        "failed": [*failure.rubrics] or [failure.kind],
        "label": failure.label,
        "reason": failure.reason,
        "question": failure.question,
        "versions": [
            failure.service_version,
            failure.prompt_version,
            failure.index_epoch,
            failure.llm_model,
        ],
    }


def _span(span: Form) -> dict[str, object]:
    return {
        "span_id": span["SpanId"],
        "parent": span["ParentSpanId"],
        "name": span["SpanName"],
        "status": span["StatusCode"],
        "milliseconds": round(span["Duration"] / 1e6, 1),
    }


def _seen(record: ComparedRecord) -> dict[str, object]:
    return {"trace_id": record.trace_id, "question": record.question, **record.dimensions}
