"""Reads the calls of DSPy programs: the fields of a signature, whatever the user named them.

Source: openinference-instrumentation-dspy 0.1.48. A module's inputs and outputs are JSON objects of
the signature's fields; a tool's output is what the user's function returned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from collector.claims.claim import Claim, Field, Listing, SpanRole, Withheld
from collector.claims.field_names import Kind
from collector.claims.payload import answer_of, question_of
from collector.claims.prompt_fields import answer_in, field_of, only_text
from collector.claims.recover import as_container
from collector.claims.traced_calls import returned_documents
from ragvigil.model.span import Span

SCOPE = "openinference.instrumentation.dspy"
MODULE = re.compile(r"\.a?forward$")
SEARCHES = re.compile(
    r"search|retriev|look_?up|wiki|passage|knowledge|find_doc|get_doc|fetch_doc", re.I
)


def program_claims(span: Span, role: SpanRole | None) -> Iterator[Claim]:
    """The question, the answer and the passages in a call of a program or its tool."""
    inputs, outputs = span.attributes.get("input.value"), span.attributes.get("output.value")
    if role is SpanRole.CHAIN and MODULE.search(span.name):
        yield Claim(Field.INPUT, partial(_question, inputs), 3)
        yield Claim(Field.OUTPUT, partial(_answer, outputs), 3)
    elif role is SpanRole.TOOL and SEARCHES.search(span.name):
        yield Claim(Field.RETRIEVED, partial(_found, outputs), 3)


def _question(inputs: object) -> str | None:
    """The question among a module's inputs under a name that only the user knows, else None."""
    fields = as_container(inputs).value
    if not isinstance(fields, dict) or question_of(fields):
        return None
    named = field_of(fields, Kind.QUESTION)
    if isinstance(named, str) and named.strip():
        return named
    return only_text(fields, (Kind.CONTEXT, Kind.OTHER, Kind.ANSWER))


def _answer(outputs: object) -> str | None:
    fields = as_container(outputs).value
    if not isinstance(fields, dict) or answer_of(fields):
        return None
    return answer_in(fields)


def _found(output: object) -> Listing | Withheld | None:
    """What a search tool returned: documents, or a list of texts."""
    return returned_documents(output) if output is not None else None
