"""ragvigil: watches the quality of RAG services in production. Plug-ins import from here."""

from ragvigil.model.record import Absent, Citation, ContextSource, Document, RagRecord, Retrieval
from ragvigil.model.score import Kind, Layer, Score, Stream
from ragvigil.model.scorer import Scorer
from ragvigil.model.span import Event, Link, LogRecord, Resource, Scope, Span, Trace

__all__ = [
    "Absent",
    "Citation",
    "ContextSource",
    "Document",
    "Event",
    "Kind",
    "Layer",
    "Link",
    "LogRecord",
    "RagRecord",
    "Resource",
    "Retrieval",
    "Scope",
    "Score",
    "Scorer",
    "Span",
    "Stream",
    "Trace",
]
