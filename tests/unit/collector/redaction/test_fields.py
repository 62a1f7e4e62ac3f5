"""No text of the protocol is forgotten: every string and bytes field of OTLP is walked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from collector.decode.shape import SHAPES
from collector.redaction.redact import Redactor
from collector.redaction.settings import RedactSettings

REDACTOR = Redactor(RedactSettings(), key=b"k" * 32)
SECRET = "ghp_" + "a1B2c3" * 6
EXEMPT = {
    "trace_id": "16 random bytes, checked for their length",
    "span_id": "8 random bytes, checked for their length",
    "parent_span_id": "8 random bytes",
}
DEEPEST = 14
"""Long enough for a value in a map in a list in an attribute of a link of a span."""


def paths(kind: Descriptor, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of every string and bytes field; values contain values, so up to a depth."""
    for field in kind.fields:
        path = (*above, field.name)
        if field.message_type is not None:
            if len(path) < DEEPEST and path.count("values") < 3:
                yield from paths(field.message_type, path)
        elif field.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES):
            yield path


def put(message: Any, path: tuple[str, ...]) -> None:
    """Makes every message on the path, and sets the field to a text with a secret."""
    for name in path[:-1]:
        field = message.DESCRIPTOR.fields_by_name[name]
        child = getattr(message, name)
        message = child.add() if field.is_repeated else child
    field = message.DESCRIPTOR.fields_by_name[path[-1]]
    text = f"the key is {SECRET}, or so"
    value = text.encode() if field.type == FieldDescriptor.TYPE_BYTES else text
    if field.is_repeated:
        getattr(message, path[-1]).append(value)
    else:
        setattr(message, path[-1], value)


ALL = [
    pytest.param(shape, path, id=f"{shape.name}.{'.'.join(path)}")
    for shape in SHAPES.values()
    for path in paths(shape.request.DESCRIPTOR)
]


@pytest.mark.parametrize(("shape", "path"), ALL)
def test_every_text_field_is_redacted_or_exempt_for_a_reason(shape: Any, path: Any) -> None:
    request = shape.request()
    put(request, path)
    body = request.SerializeToString()
    assert SECRET.encode() in body
    assert REDACTOR.finds(body)
    REDACTOR.redact(request)
    is_left = SECRET.encode() in request.SerializeToString()
    assert is_left is (path[-1] in EXEMPT)


def test_the_walk_covers_the_protocol() -> None:
    """Guards the test above: a descriptor that is read wrongly would give few paths."""
    names = {".".join(path.values[1]) for path in ALL}
    assert len(names) > 100
    assert "resource_spans.scope_spans.spans.links.attributes.value.string_value" in names
    assert "resource_logs.scope_logs.log_records.body.kvlist_value.values.key" in names
    assert "resource_spans.resource.entity_refs.id_keys" in names
