"""28 places of an OTLP request that a secret may stand in."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

TRACE_ID, OTHER_ID = bytes([7] * 16), bytes([8] * 8)
Put = Callable[[Any, str], None]


def _name(span: Any, text: str) -> None:
    span.name = text


def _state(span: Any, text: str) -> None:
    span.trace_state = f"vendor={text}"


def _status(span: Any, text: str) -> None:
    span.status.message = f"call failed: {text}"


def _attribute(owner: Any, text: str) -> None:
    owner.attributes.add(key="input.value").value.string_value = text


def _key(owner: Any, text: str) -> None:
    owner.attributes.add(key=text).value.bool_value = True


def _array(span: Any, text: str) -> None:
    values = span.attributes.add(key="arguments").value.array_value.values
    values.add().string_value = "first"
    values.add().string_value = text


def _map(span: Any, text: str) -> None:
    pairs = span.attributes.add(key="request").value.kvlist_value.values
    pairs.add(key="content").value.string_value = text


def _nested(span: Any, text: str) -> None:
    value = span.attributes.add(key="gen_ai.input.messages").value
    pair = value.array_value.values.add().kvlist_value.values.add(key="parts")
    pair.value.array_value.values.add().string_value = text


def _map_key(span: Any, text: str) -> None:
    span.attributes.add(key="map").value.kvlist_value.values.add(key=text).value.int_value = 1


def _bytes(span: Any, text: str) -> None:
    span.attributes.add(key="body").value.bytes_value = text.encode()


def _bytes_between(span: Any, text: str) -> None:
    span.attributes.add(key="raw").value.bytes_value = b"\xff\xd8\n" + text.encode() + b"\n\x00\xfe"


def _json(span: Any, text: str) -> None:
    span.attributes.add(key="input").value.string_value = json.dumps({"content": text})


def _json_in_json(span: Any, text: str) -> None:
    inner = json.dumps({"role": "user", "content": text})
    span.attributes.add(key="input").value.string_value = json.dumps({"messages": [inner]})


def _in_words(span: Any, text: str) -> None:
    said = f"I tried this:\n\n{text}\n\nand it does not work."
    span.attributes.add(key="question").value.string_value = said


def _event(span: Any, text: str) -> None:
    span.events.add(name=text)


def _event_attribute(span: Any, text: str) -> None:
    _attribute(span.events.add(name="exception"), text)


def _link_state(span: Any, text: str) -> None:
    span.links.add(trace_id=TRACE_ID, span_id=OTHER_ID, trace_state=f"vendor={text}")


def _link(span: Any, text: str) -> None:
    _attribute(span.links.add(trace_id=TRACE_ID, span_id=OTHER_ID), text)


SPAN_PLACES: tuple[Put, ...] = (
    _name, _state, _status, _attribute, _key, _array, _map, _nested, _map_key, _bytes,
    _bytes_between, _json, _json_in_json, _in_words, _event, _event_attribute, _link_state, _link,
)  # fmt: skip


def _body(record: Any, text: str) -> None:
    record.body.string_value = text


def _body_map(record: Any, text: str) -> None:
    record.body.kvlist_value.values.add(key="content").value.string_value = text


def _severity(record: Any, text: str) -> None:
    record.severity_text = text


def _event_name(record: Any, text: str) -> None:
    record.event_name = text


LOG_PLACES: tuple[Put, ...] = (_body, _body_map, _severity, _event_name, _attribute)


def _resource(container: Any, text: str) -> None:
    _attribute(container.resource, text)


def _scope_name(container: Any, text: str) -> None:
    container.scope_spans[0].scope.name = text


def _scope_version(container: Any, text: str) -> None:
    container.scope_spans[0].scope.version = text


def _scope_attribute(container: Any, text: str) -> None:
    _attribute(container.scope_spans[0].scope, text)


def _schema_url(container: Any, text: str) -> None:
    container.schema_url = f"https://example.org/{text}"


CONTAINER_PLACES: tuple[Put, ...] = (
    _resource, _scope_name, _scope_version, _scope_attribute, _schema_url,
)  # fmt: skip
PLACES: tuple[Put, ...] = (*SPAN_PLACES, *CONTAINER_PLACES, *LOG_PLACES)


def is_log(put: Put) -> bool:
    """Whether the place is one of a log record."""
    return put in LOG_PLACES


def request(put: Put, texts: list[str]) -> Any:
    """A request with each text in this place of a span, log record, or resource of its own."""
    if is_log(put):
        return _logs(put, texts)
    result = ExportTraceServiceRequest()
    for number, text in enumerate(texts):
        if not number or put in CONTAINER_PLACES:
            container = result.resource_spans.add()
            container.resource.attributes.add(key="service.name").value.string_value = "shop"
            scope = container.scope_spans.add()
        span = scope.spans.add(trace_id=TRACE_ID, span_id=(number + 1).to_bytes(8, "big"))
        span.start_time_unix_nano = 1_700_000_000_000_000_000 + number
        put(container if put in CONTAINER_PLACES else span, text)
    return result


def _logs(put: Put, texts: list[str]) -> Any:
    result = ExportLogsServiceRequest()
    scope = result.resource_logs.add().scope_logs.add()
    for number, text in enumerate(texts):
        record = scope.log_records.add(trace_id=TRACE_ID, time_unix_nano=number + 1)
        record.span_id = (number + 1).to_bytes(8, "big")
        put(record, text)
    return result
