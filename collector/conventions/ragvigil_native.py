"""ragvigil's own attributes: what a service declares takes precedence over everything inferred.

Set them on the span that answers, or on any span above or beside it within the same answer.
Lists and mappings are attribute values or JSON text.

| attribute | type | meaning |
|---|---|---|
| `ragvigil.query` | text | the user's question |
| `ragvigil.answer` | text | the answer to the user |
| `ragvigil.retrieved` | list of `{id, content, score?, metadata?}` | what retrieval returned |
| `ragvigil.reranked` | the same | what the reranker returned |
| `ragvigil.context` | the same | what went into the prompt |
| `ragvigil.citations` | list of `{chunk_id, quote?, answer_start?, answer_end?}` | citations |
| `ragvigil.route` | text | the route that the answer is counted under |
| `ragvigil.environment` | text | the environment, before the resource's |
| `ragvigil.prompt_version`, `ragvigil.index_epoch` | text | what a release may change |
| `ragvigil.tenant`, `ragvigil.locale`, `ragvigil.slice` | text | whom it was for |
| `ragvigil.session_id`, `ragvigil.user_id` | text | for feedback |
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from collector.claims.claim import Claim, Field
from collector.claims.documents import find_documents
from collector.claims.recover import as_container, text
from ragvigil.model.span import Span

ROOTS = frozenset({"ragvigil"})

TEXTS = {
    "ragvigil.query": Field.QUERY,
    "ragvigil.answer": Field.OUTPUT,
    "ragvigil.route": Field.ROUTE,
    "ragvigil.environment": Field.ENVIRONMENT,
    "ragvigil.prompt_version": Field.PROMPT_VERSION,
    "ragvigil.index_epoch": Field.INDEX_EPOCH,
    "ragvigil.tenant": Field.TENANT,
    "ragvigil.locale": Field.LOCALE,
    "ragvigil.slice": Field.SLICE,
    "ragvigil.session_id": Field.SESSION,
    "ragvigil.user_id": Field.USER,
}
LISTS = {
    "ragvigil.retrieved": Field.RETRIEVED,
    "ragvigil.reranked": Field.RERANKED,
    "ragvigil.context": Field.CONTEXT,
}


def claims(span: Span) -> Iterator[Claim]:
    """Reads what the service's own code declares, with precedence 0, so that it wins."""
    attributes = span.attributes
    for name in attributes.keys() & TEXTS.keys():
        yield Claim(TEXTS[name], text(attributes[name]), 0)
    if attributes.get("ragvigil.answer") == "":
        yield Claim(Field.OUTPUT, {"answer": ""}, 0)  # "" alone would count as no output
    for name in attributes.keys() & LISTS.keys():
        yield Claim(LISTS[name], partial(find_documents, attributes[name]), 0)
    if "ragvigil.citations" in attributes:
        yield Claim(Field.CITATIONS, partial(_citations, attributes["ragvigil.citations"]), 0)


def _citations(value: object) -> list[object] | None:
    container = as_container(value).value
    return container if isinstance(container, list) else None
