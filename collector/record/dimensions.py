"""What may explain a regression of an answer: model, prompt, index, release, tenant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b

from collector.claims.claim import Field, Message, SpanRole
from collector.claims.merge import Reading
from collector.claims.recover import number, text, whole
from collector.record.boundaries import Extent
from ragvigil.model.record import Dimensions, Document
from ragvigil.model.span import Attributes, Span

ENVIRONMENT = ("deployment.environment.name", "deployment.environment")
EPOCH_KEYS = ("index_epoch", "index_version", "ragvigil.index_epoch", "collection_version")


class Claimed:
    """The readings of an answer by the fields that they claim, in order of the spans."""

    __slots__ = ("_by_field",)

    def __init__(self, readings: Iterable[Reading]) -> None:
        self._by_field: dict[Field, list[Reading]] = {}
        for reading in readings:
            for field in reading.fields:
                self._by_field.setdefault(field, []).append(reading)

    def of(self, field: Field) -> list[Reading]:
        """The readings that claim a field."""
        return self._by_field.get(field, [])

    def first(self, field: Field, role: SpanRole | None = None) -> str:
        """The first text that any span, or any span in this role, claims for a field."""
        for reading in self.of(field):
            if role is None or reading.role is role:
                found = text(reading.get(field))
                if found:
                    return found
        return ""


def service_span(extent: Extent, spans: Sequence[Span]) -> Span:
    """The span whose service answers: the root's, else the answering model's."""
    if extent.root.reading is not None:
        return extent.root.reading.span
    if extent.answering is not None and extent.answering.reading is not None:
        return extent.answering.reading.span
    return spans[0]


def service_of(span: Span) -> str:
    """`service.name`; the SDKs' `unknown_service` is no name."""
    name = text(span.resource.attributes.get("service.name"))
    return "" if name.startswith("unknown_service") else name


def environment_of(span: Span, claimed: Claimed) -> str:
    """The environment under its new or old name, the service's own word first."""
    attributes = span.resource.attributes
    found = claimed.first(Field.ENVIRONMENT)
    return found or next((one for name in ENVIRONMENT if (one := text(attributes.get(name)))), "")


def dimensions(
    extent: Extent, claimed: Claimed, span: Span, retrieved: Sequence[Document]
) -> Dimensions:
    """All dimensions of an answer; empty or None where nothing states them."""
    model = extent.answering.reading if extent.answering is not None else None
    return Dimensions(
        llm_model=text(model.get(Field.MODEL)) if model is not None else "",
        embedding_model=claimed.first(Field.MODEL, SpanRole.EMBEDDING),
        reranker_model=claimed.first(Field.MODEL, SpanRole.RERANKER),
        prompt_version=claimed.first(Field.PROMPT_VERSION) or _prompt_hash(model),
        index_epoch=claimed.first(Field.INDEX_EPOCH) or _epoch(retrieved),
        temperature=number(model.get(Field.TEMPERATURE)) if model is not None else None,
        max_tokens=whole(model.get(Field.MAX_TOKENS)) if model is not None else None,
        finish_reason=text(model.get(Field.FINISH_REASON)) if model is not None else "",
        top_k=_top_k(claimed, retrieved),
        service_version=text(span.resource.attributes.get("service.version")),
        tenant=claimed.first(Field.TENANT),
        locale=claimed.first(Field.LOCALE) or _locale(span.attributes),
        slice=claimed.first(Field.SLICE),
    )


def _prompt_hash(model: Reading | None) -> str:
    """A hash of the system prompt: it changes when the prompt does."""
    messages = model.get(Field.PROMPT) if model is not None else None
    if not isinstance(messages, tuple):
        return ""
    system = [
        m.text for m in messages if isinstance(m, Message) and m.role in ("system", "developer")
    ]
    if not system:
        return ""
    encoded = "\n".join(system).encode("utf-8", "surrogatepass")
    return "sha:" + blake2b(encoded, digest_size=4).hexdigest()


def _epoch(retrieved: Sequence[Document]) -> str:
    """The index version that the chunks' own metadata states."""
    metadata = retrieved[0].metadata if retrieved else {}
    return next((found for key in EPOCH_KEYS if (found := text(metadata.get(key)))), "")


def _top_k(claimed: Claimed, retrieved: Sequence[Document]) -> int | None:
    for one in claimed.of(Field.TOP_K):
        if one.role is not SpanRole.RERANKER:
            found = whole(one.get(Field.TOP_K))
            if found is not None:
                return found
    return len(retrieved) or None


def _locale(attributes: Attributes) -> str:
    for name in ("user.locale", "locale", "language", "user.language"):
        found = text(attributes.get(name))
        if 1 < len(found) < 12:
            return found
    return ""
