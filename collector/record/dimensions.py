"""The dimensions that may explain a regression: model, prompt, index, release, tenant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b

from collector.claims.claim import Field, Message, SpanRole
from collector.claims.merge import SpanReading
from collector.claims.recover import number, text, whole
from collector.record.boundaries import Extent
from collector.record.prompt_template import template_of
from ragvigil.model.record import Dimensions, Document
from ragvigil.model.span import Attributes, Span

ENVIRONMENT = ("deployment.environment.name", "deployment.environment")
EPOCH_KEYS = ("index_epoch", "index_version", "ragvigil.index_epoch", "collection_version")


class FieldReadings:
    """The readings of an answer's spans by the fields that they claim, in span order."""

    __slots__ = ("_by_field",)

    def __init__(self, readings: Iterable[SpanReading]) -> None:
        self._by_field: dict[Field, list[SpanReading]] = {}
        for reading in readings:
            for field in reading.fields:
                self._by_field.setdefault(field, []).append(reading)

    def of(self, field: Field) -> list[SpanReading]:
        """The readings that claim a field."""
        return self._by_field.get(field, [])

    def first(self, field: Field, role: SpanRole | None = None) -> str:
        """The first text that a span (with this role, if given) claims for a field."""
        for reading in self.of(field):
            if role is None or reading.role is role:
                value = text(reading.get(field))
                if value:
                    return value
        return ""


def service_span(extent: Extent, spans: Sequence[Span]) -> Span:
    """The span whose service the record belongs to: the root, else the answering model."""
    if extent.root.reading is not None:
        return extent.root.reading.span
    if extent.answering is not None and extent.answering.reading is not None:
        return extent.answering.reading.span
    return spans[0]


def service_of(span: Span) -> str:
    """`service.name`; empty for the SDKs' default `unknown_service`."""
    name = text(span.resource.attributes.get("service.name"))
    return "" if name.startswith("unknown_service") else name


def environment_of(span: Span, fields: FieldReadings) -> str:
    """The environment that a span claims, else the resource's under its new or old name."""
    attributes = span.resource.attributes
    environment = fields.first(Field.ENVIRONMENT)
    return environment or next(
        (value for name in ENVIRONMENT if (value := text(attributes.get(name)))), ""
    )


def dimensions(
    extent: Extent,
    fields: FieldReadings,
    span: Span,
    retrieved: Sequence[Document],
    template: Sequence[int],
) -> Dimensions:
    """All dimensions of an answer; unstated ones are empty or None.

    `template` is that of the system prompt; a hash of it stands for a version that is not stated.
    """
    model = extent.answering.reading if extent.answering is not None else None
    return Dimensions(
        llm_model=text(model.get(Field.MODEL)) if model is not None else "",
        embedding_model=fields.first(Field.MODEL, SpanRole.EMBEDDING),
        reranker_model=fields.first(Field.MODEL, SpanRole.RERANKER),
        prompt_version=fields.first(Field.PROMPT_VERSION) or _version_of(template),
        index_epoch=fields.first(Field.INDEX_EPOCH) or _epoch(retrieved),
        temperature=number(model.get(Field.TEMPERATURE)) if model is not None else None,
        max_tokens=whole(model.get(Field.MAX_TOKENS)) if model is not None else None,
        finish_reason=text(model.get(Field.FINISH_REASON)) if model is not None else "",
        top_k=_top_k(fields, retrieved),
        service_version=text(span.resource.attributes.get("service.version")),
        tenant=fields.first(Field.TENANT),
        locale=fields.first(Field.LOCALE) or _locale(span.attributes),
        slice=fields.first(Field.SLICE),
    )


def prompt_template(extent: Extent, fields: FieldReadings) -> tuple[int, ...]:
    """The template of the system prompt, without the names of its tenant and user."""
    model = extent.answering.reading if extent.answering is not None else None
    messages = model.get(Field.PROMPT) if model is not None else None
    if not isinstance(messages, tuple):
        return ()
    system = [
        m.text for m in messages if isinstance(m, Message) and m.role in ("system", "developer")
    ]
    names = (fields.first(Field.TENANT), fields.first(Field.USER)) if system else ()
    return template_of(system, names)


def _version_of(template: Sequence[int]) -> str:
    """A version for a prompt without one: it changes when the template does."""
    if not template:
        return ""
    encoded = b"".join(sentence.to_bytes(4, "little") for sentence in template)
    return "sha:" + blake2b(encoded, digest_size=4).hexdigest()


def _epoch(retrieved: Sequence[Document]) -> str:
    """The index version in the metadata of the first chunk."""
    metadata = retrieved[0].metadata if retrieved else {}
    return next((epoch for key in EPOCH_KEYS if (epoch := text(metadata.get(key)))), "")


def _top_k(fields: FieldReadings, retrieved: Sequence[Document]) -> int | None:
    for reading in fields.of(Field.TOP_K):
        # A reranker's top_k is what it keeps, not what was retrieved.
        if reading.role is not SpanRole.RERANKER:
            top_k = whole(reading.get(Field.TOP_K))
            if top_k is not None:
                return top_k
    return len(retrieved) or None


def _locale(attributes: Attributes) -> str:
    for name in ("user.locale", "locale", "language", "user.language"):
        locale = text(attributes.get(name))
        if 1 < len(locale) < 12:
            return locale
    return ""
