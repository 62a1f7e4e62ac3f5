"""OpenLIT: OTel's names, but for what it cuts short and what it calls a retrieval.

Of a LangChain retriever's documents it lists the first three, and texts up to a length that the
user sets; `gen_ai.retrieval.document_count` tells how many there were. A LlamaIndex query engine
is a `retrieval` and its response synthesizer a `chat`, though others do both inside of them.
Source: openlit 1.45, `instrumentation/langchain`, `instrumentation/llamaindex`, `semcov`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from collector.claims.claim import Claim, Field, Listing, Message, SpanRole, Withheld
from collector.claims.documents import Draft, listing, loose
from collector.claims.recover import as_container, text, whole
from collector.claims.tool_parts import returned_by_tool
from ragvigil.model.span import Span

ROOTS = frozenset({"gen_ai"})

ENDPOINTS = {
    "query_engine_query": SpanRole.CHAIN, "query_engine_query_async": SpanRole.CHAIN,
    "document_load": SpanRole.CHAIN, "document_load_async": SpanRole.CHAIN,
    "embedding_similarity": SpanRole.CHAIN, "retrieval_build_nodes": SpanRole.CHAIN,
    "response_generate_async": SpanRole.CHAIN, "response_synthesize": SpanRole.CHAIN,
    "response_compact_refine": SpanRole.CHAIN, "response_tree_summarize": SpanRole.CHAIN,
}  # fmt: skip
ELLIPSIS = "..."
TOOL_MESSAGE = re.compile(r"""content=('(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+") """, re.DOTALL)


def claims(span: Span) -> Iterator[Claim]:
    """What OpenLIT says otherwise than the conventions that it follows."""
    attributes = span.attributes
    endpoint = text(attributes.get("gen_ai.operation.endpoint")) or span.name.rpartition(" ")[2]
    role = ENDPOINTS.get(endpoint)
    if role is not None:
        yield Claim(Field.ROLE, role, 4)
    if "gen_ai.retrieval.document_count" in attributes:
        count = whole(attributes["gen_ai.retrieval.document_count"])
        listed = attributes.get("gen_ai.retrieval.documents")
        yield Claim(Field.RETRIEVED, partial(_documents, listed, count), 1)
    result = attributes.get("gen_ai.tool.call.result")
    if isinstance(result, str) and result.startswith("content="):
        yield Claim(Field.RETRIEVED, partial(_from_tool_message, result), 5)
    prompt = attributes.get("gen_ai.prompt")
    if "gen_ai.framework.component.type" in attributes and isinstance(prompt, str):
        yield Claim(Field.PROMPT, (Message("user", prompt),) if prompt else None, 8)


def _documents(listed: object, count: int | None) -> Listing | Withheld | None:
    """The documents, complete only where none was left out and no text was cut."""
    if listed is None:
        return Listing(()) if count == 0 else None
    container, complete = as_container(listed)
    entries = container if isinstance(container, list) else []
    drafts = [one for one in map(loose, entries) if one is not None]
    if not drafts:
        return None
    whole_list = complete and count == len(drafts) and not _is_cut(drafts)
    found = listing(_apart(drafts), complete=whole_list)
    return found._replace(total=count or 0) if isinstance(found, Listing) else found


def _is_cut(drafts: list[Draft]) -> bool:
    """Whether the longest text ends as cut ones do: all are cut at the same length."""
    longest = max((one.content or "" for one in drafts), key=len)
    return longest.endswith(ELLIPSIS)


def _apart(drafts: list[Draft]) -> list[Draft]:
    """An id may be the name of the file that a chunk is from: one that several have is none."""
    texts: dict[str, set[str | None]] = {}
    for one in drafts:
        texts.setdefault(one.id, set()).add(one.content)
    return [
        one._replace(id="", metadata={**one.metadata, "source": one.id})
        if one.id and len(texts[one.id]) > 1
        else one
        for one in drafts
    ]


def _from_tool_message(result: str) -> Listing | None:
    """The documents in a LangChain tool message that was written as Python's repr."""
    found = TOOL_MESSAGE.match(result + " ")
    content: object = None
    if found is not None:
        with suppress(ValueError, SyntaxError):  # no literal: nothing can be read
            content = ast.literal_eval(found[1])
    return returned_by_tool(content) if isinstance(content, str) else None
