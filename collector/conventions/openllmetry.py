"""OpenLLMetry (Traceloop): `traceloop.*`, `gen_ai.prompt.N.*`, vector stores' span events.

Its newer packages also write OTel GenAI messages, which `otel_genai` reads.
Source: traceloop/openllmetry, semantic-conventions-ai 0.4 to 0.5.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from collector.claims.called_tools import tools_in_rows
from collector.claims.claim import (
    NO_TEXT,
    Claim,
    Field,
    Listing,
    Message,
    SpanRole,
    Withheld,
    scalar_claims,
)
from collector.claims.documents import Draft, draft, draft_of, find_documents, listing
from collector.claims.flat import Rows, gather
from collector.claims.merge import names_reranker
from collector.claims.messages import text_of, unpacked
from collector.claims.payload import answer_of
from collector.claims.recover import as_container, number, text, whole
from collector.claims.tool_results import tool_documents
from ragvigil.model.span import Attributes, Event, Span

ROOTS = frozenset({"traceloop", "gen_ai", "db"})

ROLES = {
    "workflow": SpanRole.CHAIN, "task": SpanRole.CHAIN, "agent": SpanRole.AGENT,
    "tool": SpanRole.TOOL,
}  # fmt: skip
REQUEST_ROLES = {
    "chat": SpanRole.LLM, "completion": SpanRole.LLM, "embedding": SpanRole.EMBEDDING,
    "rerank": SpanRole.RERANKER,
}  # fmt: skip
SCALARS = {
    "traceloop.association.properties.session_id": (Field.SESSION, text, 5),
    "traceloop.association.properties.thread_id": (Field.SESSION, text, 6),
    "traceloop.association.properties.user_id": (Field.USER, text, 4),
    "traceloop.association.properties.tenant": (Field.TENANT, text, 4),
    "traceloop.association.properties.tenant_id": (Field.TENANT, text, 5),
    "traceloop.prompt.version": (Field.PROMPT_VERSION, text, 4),
    "traceloop.prompt.version_hash": (Field.PROMPT_VERSION, text, 5),
    "traceloop.prompt.key": (Field.PROMPT_VERSION, text, 9),
    "llm.usage.prompt_tokens": (Field.INPUT_TOKENS, whole, 5),
    "llm.usage.completion_tokens": (Field.OUTPUT_TOKENS, whole, 5),
    "llm.user": (Field.USER, text, 7),
    "llm.response.finish_reason": (Field.FINISH_REASON, text, 4),
    "llm.request.model": (Field.MODEL, text, 7),
    "llm.response.model": (Field.MODEL, text, 6),
    "db.vector.query.top_k": (Field.TOP_K, whole, 4),
    "db.chroma.query.n_results": (Field.TOP_K, whole, 5),
    "pinecone.query.top_k": (Field.TOP_K, whole, 6),
}
HIT_EVENTS = ("db.query.result", "db.search.result")
READ_OPERATIONS = ("query", "search", "get", "retrieve", "knn", "similarity", "hybrid", "fetch")
NODE_LIST = '["{\\"node\\":'
"""How a list of LlamaIndex' nodes begins: each is a text, which is the JSON of a node."""
CHUNK_EVENT = "gen_ai.content.completion.chunk"


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims of an OpenLLMetry span."""
    attributes = span.attributes
    yield from _roles(span)
    yield from scalar_claims(attributes, SCALARS)
    if text(attributes.get("traceloop.workflow.name")):
        yield Claim(Field.WORKFLOW, text(attributes["traceloop.workflow.name"]), 3)
    yield from _entity(span)
    yield from _numbered_messages(span)
    if span.events:
        yield from _hits(span)
    if "db.vector.query.content" in attributes:
        yield Claim(Field.QUERY, text(attributes["db.vector.query.content"]), 3)
    if "db.vector.query.response.documents" in attributes:
        response = attributes["db.vector.query.response.documents"]
        yield Claim(Field.RETRIEVED, partial(find_documents, response), 4)


def _roles(span: Span) -> Iterator[Claim]:
    attributes = span.attributes
    kind_of_request = attributes.get("llm.request.type", attributes.get("gen_ai.request.type"))
    request = REQUEST_ROLES.get(text(kind_of_request))
    if request is not None:
        yield Claim(Field.ROLE, request, 7)
    kind = ROLES.get(text(attributes.get("traceloop.span.kind")))
    if kind is not None:
        yield Claim(Field.ROLE, _entity_role(span, kind), 8)
    entity = text(attributes.get("traceloop.entity.name"))
    if entity.endswith("Retriever") and names_reranker(entity):
        # LangChain's is a task, and its operation `vector_db_retrieve`.
        yield Claim(Field.ROLE, SpanRole.RERANKER, 3)
    if _is_vector_search(span):
        yield Claim(Field.ROLE, SpanRole.RETRIEVER, 10)


def _entity_role(span: Span, kind: SpanRole) -> SpanRole:
    """The role of an entity. LlamaIndex' retrievers and rerankers are tasks: the class says."""
    if kind is SpanRole.CHAIN and text(span.attributes.get("traceloop.span.kind")) == "task":
        name = text(span.attributes.get("traceloop.entity.name")) or span.name
        class_name = name.partition(".")[0]
        if class_name.endswith("Retriever"):
            return SpanRole.RETRIEVER
        if class_name.endswith(("Rerank", "Reranker", "Ranker")):
            return SpanRole.RERANKER
        return _node_step(span.attributes) or kind
    return kind


def _node_step(attributes: Attributes) -> SpanRole | None:
    """The role of a LlamaIndex class of the user's own, which may have any name.

    A retriever makes a list of nodes of a query, a postprocessor one of nodes.
    """
    returned = text(attributes.get("traceloop.entity.output"))
    if returned != "[]" and not returned.startswith(NODE_LIST):
        return None
    inputs = text(attributes.get("traceloop.entity.input"))
    if inputs.startswith(('{"query_bundle":', '{"str_or_query_bundle":')):
        return SpanRole.RETRIEVER
    return SpanRole.RERANKER if inputs.startswith('{"nodes":') else None


def _is_vector_search(span: Span) -> bool:
    attributes = span.attributes
    if any(event.name in HIT_EVENTS for event in span.events):
        return True
    if "db.system" not in attributes and "db.system.name" not in attributes:
        return False
    operation = text(attributes.get("db.operation")) or text(attributes.get("db.operation.name"))
    is_vector = any(key.startswith(("db.vector.query", "db.chroma.query")) for key in attributes)
    return is_vector and operation.lower().startswith(READ_OPERATIONS)


def _entity(span: Span) -> Iterator[Claim]:
    """`traceloop.entity.input` and `.output`: arbitrary JSON, cut by the value length limit."""
    attributes = span.attributes
    inputs = attributes.get("traceloop.entity.input", attributes.get("gen_ai.task.input"))
    returned = attributes.get("traceloop.entity.output", attributes.get("gen_ai.task.output"))
    name = f"{span.name} {text(attributes.get('traceloop.entity.name'))}".lower()
    step = _node_step(attributes)
    reranks = names_reranker(name) or step is SpanRole.RERANKER
    retrieves = "retriev" in name or "vector_db" in name or step is SpanRole.RETRIEVER
    if inputs is not None:
        yield Claim(Field.INPUT, inputs, 6)
        if retrieves or reranks:
            yield Claim(Field.QUERY, partial(_entity_query, inputs), 6)
        # A cheap test before parsing: most inputs have no nodes.
        if '"nodes"' in text(inputs)[:65_536] and not retrieves and not reranks:
            yield Claim(Field.CONTEXT, partial(_nodes, inputs), 6)
    if returned is not None:
        yield Claim(Field.OUTPUT, returned, 6)
        if reranks:
            yield Claim(Field.RERANKED, partial(find_documents, returned), 6)
        elif retrieves:
            yield Claim(Field.RETRIEVED, partial(find_documents, returned), 6)
        elif text(attributes.get("traceloop.span.kind")) == "tool":
            yield Claim(Field.RETRIEVED, partial(_tool_result, returned), 6)


def _tool_result(returned: object) -> Listing | None:
    """Documents in a tool's output, which is wrapped: `{"output": …}` or an encoded text."""
    container = as_container(returned).value
    if isinstance(container, dict) and isinstance(container.get("output"), (str, list, dict)):
        return tool_documents(container["output"])
    return tool_documents(answer_of(returned) or returned)


def _entity_query(inputs: object) -> str | None:
    container = as_container(inputs).value
    for _ in range(3):  # `{"inputs": {"query_bundle": {"query_str": …}}}`
        if isinstance(container, dict):
            names = ("query", "query_str", "str_or_query_bundle", "query_bundle", "inputs", "input")
            container = next((container[n] for n in names if container.get(n)), None)
    return container if isinstance(container, str) else None


def _nodes(inputs: object) -> Listing | Withheld | None:
    """The input of LlamaIndex' synthesizer: the nodes that go into the prompt."""
    container, complete = as_container(inputs)
    nodes = container.get("nodes") if isinstance(container, dict) else None
    if not isinstance(nodes, list):
        return None
    drafts = [draft_ for draft_ in map(draft_of, nodes) if draft_ is not None]
    return listing(drafts, complete=complete) if len(drafts) == len(nodes) else None


def _numbered_messages(span: Span) -> Iterator[Claim]:
    """`gen_ai.prompt.N.content` and `gen_ai.completion.N.content`, still sent by many packages."""
    families = gather(span.attributes)
    prompt_rows = families.get("gen_ai.prompt")
    reply_rows = families.get("gen_ai.completion")
    rerank = text(span.attributes.get("llm.request.type")) == "rerank"
    if prompt_rows and rerank:
        yield from _cohere_input(prompt_rows)
    elif prompt_rows:
        yield Claim(Field.PROMPT, partial(_messages, prompt_rows, "user"), 3)
    if reply_rows and rerank:
        yield Claim(Field.RERANKED, partial(_cohere_output, reply_rows, prompt_rows or {}), 5)
    elif reply_rows:
        yield Claim(Field.REPLY, partial(_reply, reply_rows, prompt_rows or {}), 3)
        yield Claim(Field.CALLED_TOOLS, partial(tools_in_rows, reply_rows), 3)
        reason = text(reply_rows[max(reply_rows)].get("finish_reason"))
        if reason:
            yield Claim(Field.FINISH_REASON, reason, 3)
    first_chunk = next((e for e in span.events if e.name == CHUNK_EVENT), None)
    if first_chunk is not None and first_chunk.time_unix_nano >= span.start_unix_nano > 0:
        seconds = (first_chunk.time_unix_nano - span.start_unix_nano) / 1e9
        yield Claim(Field.FIRST_TOKEN_SECONDS, seconds, 4)


def _messages(rows: Rows, default_role: str) -> tuple[Message, ...] | None:
    messages = []
    for index in sorted(rows):
        row = rows[index]
        content = row.get("content")
        role = text(row.get("role")) or default_role
        # A tool's result may be a list of documents, which are no parts of a message.
        parts = as_container(content).value if role != "tool" and text(content)[:1] == "[" else None
        body = text_of(parts) if isinstance(parts, list) else unpacked(text(content))
        calls = any(key.startswith("tool_calls") for key in row) and "content" not in row
        messages.append(Message(role, body or text(content), calls))
    return tuple(messages) if any(m.text or m.calls_tool for m in messages) else None


def _reply(rows: Rows, prompt_rows: Rows) -> tuple[Message, ...] | None:
    """The reply; NO_TEXT if its text is empty.

    Empty texts are left out, and so is all content where it is switched off: but then the prompt
    has none either. Only a reply that ended has a finish reason.
    """
    messages = _messages(rows, "assistant")
    if messages is not None:
        return messages
    is_captured = any(text(row.get("content")) for row in prompt_rows.values())
    is_ended = all(row.get("finish_reason") and "refusal" not in row for row in rows.values())
    is_sent = all(row.get("content") == "" for row in rows.values())
    return NO_TEXT if is_sent or (is_captured and is_ended) else None


def _cohere_input(rows: Rows) -> Iterator[Claim]:
    """Cohere's reranker: documents are system messages, the query is the last message."""
    texts = [text(rows[index].get("content")) for index in sorted(rows)]
    if len(texts) > 1:
        yield Claim(Field.QUERY, texts[-1], 5)
        yield Claim(
            Field.RERANK_INPUT, listing([draft(None, document) for document in texts[:-1]]), 5
        )


def _cohere_output(rows: Rows, prompt_rows: Rows) -> Listing | Withheld | None:
    """The output of Cohere's reranker: `Doc {index}, Score: {score}` in a line, then the text.

    Without the text, as of the API's second version, the index says which input it was.
    """
    drafts = []
    for index in sorted(rows):
        head, _, body = text(rows[index].get("content")).partition("\n")
        if not head.startswith("Doc ") or "Score:" not in head:
            return None  # another reranker's reply
        place, _, score = head.removeprefix("Doc ").partition(", Score:")
        given = prompt_rows.get(whole(place) or 0, {}).get("content")
        drafts.append(draft(None, body or given, score.strip()))
    return listing(drafts)


def _hits(span: Span) -> Iterator[Claim]:
    drafts = [_hit(event) for event in span.events if event.name in HIT_EVENTS]
    if drafts:
        complete = span.dropped_events_count == 0
        yield Claim(Field.RETRIEVED, partial(listing, drafts, complete=complete), 3)


def _hit(event: Event) -> Draft:
    """A hit of a vector store: `db.query.result.*`, Milvus' `db.search.result.*`."""
    attributes: Attributes = event.attributes
    prefix = event.name + "."
    entity = as_container(attributes.get(prefix + "entity")).value
    inner = draft_of(entity) if isinstance(entity, dict) else None
    score = number(attributes.get(prefix + "score"))
    return draft(
        attributes.get(prefix + "id", inner.id if inner else None),
        attributes.get(prefix + "document", inner.content if inner else None),
        score if score is not None else attributes.get(prefix + "distance"),
        attributes.get(prefix + "metadata", dict(inner.metadata) if inner else None),
    )
