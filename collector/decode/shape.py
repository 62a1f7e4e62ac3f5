"""The common shape of traces and logs requests: resources hold scopes, scopes hold items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from ragvigil.model.span import Signal


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The messages and fields of one signal; the generated classes have no common base class."""

    name: str
    request: Any
    response: Any
    item: Any
    container_field: str
    scope_field: str
    item_field: str
    rejected_field: str

    def containers(self, request: Any) -> Any:
        """The repeated `resource_spans` or `resource_logs`."""
        return getattr(request, self.container_field)

    def scopes(self, container: Any) -> Any:
        """The repeated `scope_spans` or `scope_logs`."""
        return getattr(container, self.scope_field)

    def items(self, scoped: Any) -> Any:
        """The repeated `spans` or `log_records`."""
        return getattr(scoped, self.item_field)

    def lists(self, request: Any) -> Iterator[Any]:
        """Every list of items, in order."""
        for container in self.containers(request):
            for scoped in self.scopes(container):
                yield self.items(scoped)

    def count(self, request: Any) -> int:
        """The number of items in a request."""
        return sum(map(len, self.lists(request)))


SHAPES = {
    Signal.TRACES: Shape(
        name="traces",
        request=ExportTraceServiceRequest,
        response=ExportTraceServiceResponse,
        item=Span,
        container_field="resource_spans",
        scope_field="scope_spans",
        item_field="spans",
        rejected_field="rejected_spans",
    ),
    Signal.LOGS: Shape(
        name="logs",
        request=ExportLogsServiceRequest,
        response=ExportLogsServiceResponse,
        item=LogRecord,
        container_field="resource_logs",
        scope_field="scope_logs",
        item_field="log_records",
        rejected_field="rejected_log_records",
    ),
}
