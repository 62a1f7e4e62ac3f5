"""OpenInference (Arize): `openinference.span.kind`, flattened documents and messages.

Source: Arize-ai/openinference `spec/*.md`. It also reads these deviations: `retrieval.documents` as
a single attribute, names without the `document.` infix, documents in `output.value` only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

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
from collector.claims.documents import REDACTED, Draft, draft, find_documents, listing
from collector.claims.flat import Rows, columns, gather
from collector.claims.merge import names_reranker
from collector.claims.messages import is_empty_reply, messages_of, messages_of_rows
from collector.claims.program_calls import SCOPE as DSPY
from collector.claims.program_calls import program_claims
from collector.claims.recover import as_container, number, text, text_argument, whole
from collector.claims.source_blocks import BLOCK_TYPES
from collector.claims.tool_results import messages_with_tools, tool_documents
from collector.claims.traced_calls import first_member
from ragvigil.model.span import AttributeValue, Span

ROOTS = frozenset(
    {"openinference", "llm", "retrieval", "reranker", "embedding", "input", "output", "tool"}
)

ROLES = {
    "LLM": SpanRole.LLM, "EMBEDDING": SpanRole.EMBEDDING, "CHAIN": SpanRole.CHAIN,
    "RETRIEVER": SpanRole.RETRIEVER, "RERANKER": SpanRole.RERANKER, "TOOL": SpanRole.TOOL,
    "AGENT": SpanRole.AGENT, "GUARDRAIL": SpanRole.GUARDRAIL, "EVALUATOR": SpanRole.EVALUATOR,
    "PROMPT": SpanRole.PROMPT, "UNKNOWN": SpanRole.CHAIN,
}  # fmt: skip
CUT_ROLES = {"llm.model_name": SpanRole.LLM, "reranker.model_name": SpanRole.RERANKER}
"""What a span is that was cut at its attribute limit: its kind comes last, and is cut first."""
SCALARS = {
    "llm.response.model_name": (Field.MODEL, text, 1),
    "llm.model_name": (Field.MODEL, text, 3),
    "llm.request.model_name": (Field.MODEL, text, 5),
    "embedding.model_name": (Field.MODEL, text, 8),
    "reranker.model_name": (Field.MODEL, text, 9),
    "reranker.top_k": (Field.TOP_K, whole, 5),
    "reranker.query": (Field.QUERY, text, 3),
    "llm.token_count.prompt": (Field.INPUT_TOKENS, whole, 2),
    "llm.token_count.completion": (Field.OUTPUT_TOKENS, whole, 2),
    "llm.token_count.prompt_details.cache_read": (Field.CACHE_READ_TOKENS, whole, 2),
    "llm.token_count.completion_details.reasoning": (Field.REASONING_TOKENS, whole, 2),
    "llm.cost.total": (Field.COST_USD, number, 1),
    "llm.finish_reason": (Field.FINISH_REASON, text, 2),
    "llm.prompt_template.version": (Field.PROMPT_VERSION, text, 2),
    "session.id": (Field.SESSION, text, 1),
    "user.id": (Field.USER, text, 1),
    "agent.name": (Field.AGENT_NAME, text, 2),
    "tool.name": (Field.TOOL_NAME, text, 2),
}
HAYSTACK_DOCUMENT = re.compile(r"^Document\(id=([^,)\s]+)")
NODE_ID = re.compile(r"id_=([^),]+)\)?, score=([-+0-9.e]+|None)")
FIRST_TOKEN = "First Token Stream Event"
TOOL_ROW = {"message.role"}
RESULTS = ("result", "content")
EMPTY_MESSAGES = ("assistant:", "assistant: None")
"""How LlamaIndex writes a message without text."""


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims of an OpenInference span."""
    attributes = span.attributes
    role = ROLES.get(text(attributes.get("openinference.span.kind")).upper())
    is_cut = role is None and span.dropped_attributes_count > 0
    if is_cut:
        role = next((CUT_ROLES[name] for name in CUT_ROLES if name in attributes), None)
    if role is not None:
        role = _role(span, role)
        yield Claim(Field.ROLE, role, 2)
    yield from scalar_claims(attributes, SCALARS)
    for name, field in (("input.value", Field.INPUT), ("output.value", Field.OUTPUT)):
        if name in attributes:
            value = attributes[name]
            yield Claim(field, Withheld.HIDDEN if value == REDACTED else value, 4)
    # An embedding span has none of these families, but a numbered attribute per vector.
    families = {} if role is SpanRole.EMBEDDING else gather(attributes)
    if is_cut and "llm.output_messages" not in families:
        families.pop("llm.input_messages", None)  # may be cut as well; the input has all
    if role is SpanRole.LLM or role is None or role is SpanRole.AGENT:
        yield from _model_call(span, role, families)
    elif role is SpanRole.EMBEDDING:
        yield Claim(Field.QUERY, partial(_embedding_query, attributes), 4)
    if role is not SpanRole.LLM and role is not SpanRole.PROMPT:
        yield from _documents(span, role, families)
    if span.scope.name == DSPY:
        yield from program_claims(span, role)
    if "metadata" in attributes:
        yield Claim(Field.TENANT, partial(_tenant, attributes["metadata"]), 6)


def _role(span: Span, role: SpanRole) -> SpanRole:
    """The declared role, except for rerankers and generators that only their name reveals."""
    name = span.name.lower()
    # LangChain's rerankers are RETRIEVER spans, LlamaIndex' CHAIN spans.
    if role is SpanRole.RETRIEVER or (role is SpanRole.CHAIN and "postprocess" in name):
        if names_reranker(name):
            return SpanRole.RERANKER
        if "generate" in name:
            return SpanRole.CHAIN  # Bedrock's RetrieveAndGenerate also answers
    return role


def _model_call(span: Span, role: SpanRole | None, families: dict[str, Rows]) -> Iterator[Claim]:
    attributes = span.attributes
    prompt_rows, reply_rows = (
        families.get("llm.input_messages"),
        families.get("llm.output_messages"),
    )
    if prompt_rows:
        given = attributes.get("input.value")
        yield Claim(Field.PROMPT, partial(_prompt_of_rows, prompt_rows, given), 1)
    if reply_rows:
        yield Claim(Field.REPLY, partial(messages_of_rows, reply_rows), 1)
        yield Claim(Field.CALLED_TOOLS, partial(tools_in_rows, reply_rows), 1)
    if "llm.prompts" in families or "llm.prompts" in attributes:
        yield Claim(Field.PROMPT, partial(_prompts, attributes, families.get("llm.prompts")), 6)
    if "llm.choices" in families:
        yield Claim(Field.REPLY, partial(_choices, families["llm.choices"]), 8)
    if role is not SpanRole.LLM:
        return
    yield Claim(Field.PROMPT, partial(_raw_messages, attributes.get("input.value"), "user"), 8)
    if "output.value" in attributes:
        yield Claim(Field.RAW_REPLY, attributes["output.value"], 4)
        yield Claim(Field.REPLY, partial(_raw_reply, attributes["output.value"]), 8)
    parameters = attributes.get("llm.invocation_parameters")
    if parameters is not None:
        yield Claim(Field.TEMPERATURE, partial(_parameter, parameters, "temperature"), 4)
        yield Claim(Field.MAX_TOKENS, partial(_max_tokens, parameters), 4)
    for event in span.events:
        if event.name == FIRST_TOKEN and event.time_unix_nano >= span.start_unix_nano > 0:
            seconds = (event.time_unix_nano - span.start_unix_nano) / 1e9
            yield Claim(Field.FIRST_TOKEN_SECONDS, seconds, 3)
            break


def _prompt_of_rows(rows: Rows, given: object) -> tuple[Message, ...] | Withheld | None:
    """The messages to a model. Anthropic's documents are JSON text in parts of their own.

    Haystack's results of tools have no text here; the repr of the message in the input has it.
    """
    if any(row.keys() == TOOL_ROW and row["message.role"] == "tool" for row in rows.values()):
        rows = _with_results(rows, given)
    entries = [_with_blocks(rows[index]) for index in sorted(rows)]
    if not any(entries):
        return messages_of_rows(rows)
    by_message = [
        messages_of_rows({index: rows[index]})
        if entry is None
        else messages_with_tools([entry], entry["role"])
        for index, entry in zip(sorted(rows), entries, strict=True)
    ]
    return tuple(m for messages in by_message if isinstance(messages, tuple) for m in messages)


def _with_results(rows: Rows, given: object) -> Rows:
    """The messages, with the texts of tools' results that only the input's reprs have."""
    messages = first_member(given, "messages")
    reprs = messages if isinstance(messages, list) else []
    filled = dict(rows)
    for index, row in rows.items():
        written = reprs[index] if index < len(reprs) else None
        if row.keys() == TOOL_ROW and isinstance(written, str):
            filled[index] = {**row, "message.content": text_argument(written, RESULTS) or ""}
    return filled


def _with_blocks(row: Mapping[str, AttributeValue]) -> dict[str, Any] | None:
    """A message with its documents as blocks; None if it has none."""
    parts = columns(row, "message.contents.")
    if not any(part.get("message_content.type") in BLOCK_TYPES for part in parts.values()):
        return None
    bodies = [parts[index].get("message_content.text") for index in sorted(parts)]
    kinds = [text(parts[index].get("message_content.type")) for index in sorted(parts)]
    content = [
        as_container(body).value if kind in BLOCK_TYPES else {"type": kind, "text": body}
        for kind, body in zip(kinds, bodies, strict=True)
    ]
    return {"role": text(row.get("message.role")), "content": content}


def _documents(span: Span, role: SpanRole | None, families: dict[str, Rows]) -> Iterator[Claim]:
    attributes = span.attributes
    cut = span.dropped_attributes_count > 0
    returned = families.get("retrieval.documents")
    if returned:
        field = Field.RERANKED if role is SpanRole.RERANKER else Field.RETRIEVED
        yield Claim(field, partial(_best_listing, returned, cut, attributes.get("output.value")), 1)
    elif "retrieval.documents" in attributes:
        yield Claim(Field.RETRIEVED, partial(_whole, attributes["retrieval.documents"]), 2)
    outputs = families.get("reranker.output_documents")
    if outputs:
        yield Claim(Field.RERANKED, _listing(outputs, cut), 1)
    inputs = families.get("reranker.input_documents")
    if inputs:
        yield Claim(Field.RERANK_INPUT, _listing(inputs, cut), 1)
    if "output.value" in attributes:
        if role is SpanRole.TOOL:
            yield Claim(Field.RETRIEVED, partial(tool_documents, attributes["output.value"]), 4)
        elif role is SpanRole.RETRIEVER:
            yield Claim(Field.RETRIEVED, partial(find_documents, attributes["output.value"]), 4)
        elif role is SpanRole.RERANKER:
            yield Claim(Field.RERANKED, partial(_ranking, attributes["output.value"]), 4)
        elif "joiner" in span.name.lower():
            yield Claim(Field.RERANK_INPUT, partial(_joiner_output, attributes["output.value"]), 6)


def _listing(rows: Rows, cut: bool) -> Listing | Withheld:
    """Flattened documents in order; with their positions if attributes were dropped."""
    indices = sorted(rows)
    drafts = [_draft(rows[index]) for index in indices]
    listed = listing(drafts, complete=not cut)
    if isinstance(listed, Listing) and cut:
        return listed._replace(slots=tuple(indices))
    return listed


def _best_listing(rows: Rows, cut: bool, output: object) -> Listing | Withheld:
    """Flattened documents, or those of `output.value` if they are the same and more complete.

    LangChain's flattened documents lack the id that `output.value` may have. If attributes were
    dropped, `output.value` may still have the whole list.
    """
    flattened = _listing(rows, cut)
    if output is None or not isinstance(flattened, Listing):
        return flattened
    if not cut and not any(
        document.chunk_id == document.text_hash for document in flattened.documents
    ):
        return flattened
    whole_list = find_documents(output)
    if not isinstance(whole_list, Listing) or not whole_list.complete:
        return flattened
    texts = [document.text_hash for document in whole_list.documents]
    positions = flattened.slots or tuple(range(len(flattened.documents)))
    same = all(
        slot < len(texts) and texts[slot] == document.text_hash
        for slot, document in zip(positions, flattened.documents, strict=True)
    )
    return whole_list if same and (cut or len(texts) == len(flattened.documents)) else flattened


def _joiner_output(output: object) -> Listing | Withheld | None:
    """The ids in a Haystack joiner's output, in order; its repr cuts the texts short."""
    container = as_container(output).value
    entries = container.get("documents") if isinstance(container, dict) else None
    matches = [HAYSTACK_DOCUMENT.match(entry) if isinstance(entry, str) else None
             for entry in (entries if isinstance(entries, list) else ())]  # fmt: skip
    if not matches or not all(matches):
        return None
    return listing([draft(match[1]) for match in matches if match])


def _draft(row: Mapping[str, AttributeValue]) -> Draft:
    get = row.get
    identifier = get("document.id")
    content = get("document.content")
    metadata: object = get("document.metadata")
    score = get("document.score")
    if content is None and identifier is None and metadata is None:
        identifier, content, metadata = get("id"), get("content"), get("metadata")
        score = get("score", score)
    if metadata is None and len(row) > 3:
        size = len("document.metadata.")
        metadata = {k[size:]: v for k, v in row.items() if k.startswith("document.metadata.")}
    return draft(identifier, content, score, metadata)


def _whole(value: object) -> Listing | Withheld | None:
    """`retrieval.documents` as a single attribute: a list, JSON text, or a list of texts."""
    container, complete = as_container(value)
    if not isinstance(container, list):
        return find_documents(value)
    drafts = []
    for entry in container:
        structure = as_container(entry).value if isinstance(entry, str) else entry
        if isinstance(structure, dict):
            plain = {
                str(key).removeprefix("document."): member for key, member in structure.items()
            }
            drafts.append(draft(*(plain.get(k) for k in ("id", "content", "score", "metadata"))))
        elif isinstance(entry, str):
            drafts.append(draft(None, entry))
    return listing(drafts, complete=complete)


def _ranking(value: object) -> Listing | Withheld | None:
    """A reranker's output: documents, or LlamaIndex' nodes with only id and score."""
    documents = find_documents(value)
    if isinstance(documents, Listing) and documents.documents:
        return documents
    container = as_container(value).value
    nodes = [NODE_ID.search(entry) for entry in container if isinstance(entry, str)] if isinstance(
        container, list) else []  # fmt: skip
    if not nodes or not all(nodes):
        return None
    return listing([draft(node[1], None, node[2]) for node in nodes if node])


def _embedding_query(attributes: Mapping[str, AttributeValue]) -> str | None:
    value = attributes.get("embedding.embeddings.0.embedding.text")
    return value if isinstance(value, str) and value != REDACTED else None


def _prompts(attributes: Mapping[str, AttributeValue], rows: Rows | None) -> object:
    if rows:
        texts = [text(rows[i].get("prompt.text", rows[i].get("text"))) for i in sorted(rows)]
    else:
        prompts = attributes.get("llm.prompts")
        texts = (
            [text(prompt) for prompt in prompts] if isinstance(prompts, list) else [text(prompts)]
        )
    return tuple(Message("user", prompt) for prompt in texts if prompt) or None


def _choices(rows: Rows) -> object:
    texts = [rows[index].get("completion.text") for index in sorted(rows)]
    replies = tuple(Message("assistant", reply) for reply in texts if isinstance(reply, str))
    return replies if any(reply.text for reply in replies) else NO_TEXT if replies else None


def _raw_reply(output: object) -> tuple[Message, ...] | None:
    """What the flattened message leaves out: a refusal, or that the text is empty (NO_TEXT)."""
    member = first_member(output, "choices")
    choices = member if isinstance(member, list) else []
    messages = [first_member(choice, "message") for choice in choices]
    refusals = [text(first_member(message, "refusal")) for message in messages]
    if any(refusals):
        return tuple(Message("assistant", refusal) for refusal in refusals if refusal)
    # Of a stream without text, only the role and the finish reason are kept.
    is_bare = bool(messages) and all(
        isinstance(message, dict)
        and message.keys() <= {"role"}
        and first_member(choice, "finish_reason")
        for message, choice in zip(messages, choices, strict=True)
    )
    is_empty = is_bare or text(output).strip() in EMPTY_MESSAGES or is_empty_reply(output)
    return NO_TEXT if is_empty else None


def _raw_messages(value: object, role: str) -> object:
    return messages_of(value, role) if value is not None else None


def _parameter(parameters: object, name: str) -> float | None:
    container = as_container(parameters).value
    return number(container.get(name)) if isinstance(container, dict) else None


def _max_tokens(parameters: object) -> int | None:
    container = as_container(parameters).value
    if not isinstance(container, dict):
        return None
    for name in ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"):
        tokens = whole(container.get(name))
        if tokens is not None:
            return tokens
    return None


def _tenant(metadata: object) -> str | None:
    container = as_container(metadata).value
    if not isinstance(container, dict):
        return None
    nested = columns(container, "tenant.")  # a flattened list is no tenant
    return None if nested else text(container.get("tenant") or container.get("tenant_id")) or None
