"""OpenLIT: OTel's names, except for what it cuts short and what it calls a retrieval.

It lists the first three documents of a LangChain retriever, with texts up to a configured length;
`gen_ai.retrieval.document_count` is their real number. It calls a LlamaIndex query engine a
`retrieval` and its response synthesizer a `chat`, although spans inside do the real work.
Source: openlit 1.45, `instrumentation/langchain`, `instrumentation/llamaindex`, `semcov`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from collector.claims.claim import Claim, Field, Listing, Message, SpanRole, Withheld
from collector.claims.documents import Draft, draft_of, listing
from collector.claims.recover import as_container, text, whole
from collector.claims.tool_results import tool_result_documents
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
    """Reads the claims in which OpenLIT deviates from the conventions that it follows."""
    attributes = span.attributes
    endpoint = text(attributes.get("gen_ai.operation.endpoint")) or span.name.rpartition(" ")[2]
    role = ENDPOINTS.get(endpoint)
    if role is not None:
        yield Claim(Field.ROLE, role, 4)
    if "gen_ai.retrieval.document_count" in attributes:
        count = whole(attributes["gen_ai.retrieval.document_count"])
        documents = attributes.get("gen_ai.retrieval.documents")
        yield Claim(Field.RETRIEVED, partial(_documents, documents, count), 1)
    result = attributes.get("gen_ai.tool.call.result")
    if isinstance(result, str) and result.startswith("content="):
        yield Claim(Field.RETRIEVED, partial(_from_tool_message, result), 5)
    prompt = attributes.get("gen_ai.prompt")
    if "gen_ai.framework.component.type" in attributes and isinstance(prompt, str):
        yield Claim(Field.PROMPT, (Message("user", prompt),) if prompt else None, 8)


def _documents(value: object, count: int | None) -> Listing | Withheld | None:
    """The documents; complete only if none was left out and no text was cut."""
    if value is None:
        return Listing(()) if count == 0 else None
    container, complete = as_container(value)
    entries = container if isinstance(container, list) else []
    drafts = [draft_ for draft_ in map(draft_of, entries) if draft_ is not None]
    if not drafts:
        return None
    whole_list = complete and count == len(drafts) and not _is_cut(drafts)
    documents = listing(_without_shared_ids(drafts), complete=whole_list)
    return documents._replace(total=count or 0) if isinstance(documents, Listing) else documents


def _is_cut(drafts: list[Draft]) -> bool:
    """Whether texts were cut: all are cut at the same length, so the longest would be."""
    longest = max((draft_.content or "" for draft_ in drafts), key=len)
    return longest.endswith(ELLIPSIS)


def _without_shared_ids(drafts: list[Draft]) -> list[Draft]:
    """Drops ids that several texts share: these are names of files that chunks come from."""
    texts: dict[str, set[str | None]] = {}
    for draft_ in drafts:
        texts.setdefault(draft_.id, set()).add(draft_.content)
    return [
        draft_._replace(id="", metadata={**draft_.metadata, "source": draft_.id})
        if draft_.id and len(texts[draft_.id]) > 1
        else draft_
        for draft_ in drafts
    ]


def _from_tool_message(result: str) -> Listing | None:
    """The documents in a LangChain tool message in the form of Python's repr."""
    match = TOOL_MESSAGE.match(result + " ")
    content: object = None
    if match is not None:
        with suppress(ValueError, SyntaxError):  # not a literal: nothing can be read
            content = ast.literal_eval(match[1])
    return tool_result_documents(content) if isinstance(content, str) else None
