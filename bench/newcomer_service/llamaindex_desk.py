"""The desk with LlamaIndex: two plain calls, or a query engine with a postprocessor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import journal
import prompts
import search
from corpus import Chunk, Ticket
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.llms.openai_like import OpenAILike

ROUTES = ("plain", "engine")


class ArticleSearch(BaseRetriever):
    """The service's search as LlamaIndex's retriever."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [_node(chunk, score) for chunk, score in search.search(query_bundle.query_str)]


class Reranking(BaseNodePostprocessor):
    """The service's reranking as LlamaIndex's postprocessor."""

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        assert query_bundle is not None
        return [_node(chunk, score) for chunk, score in _rerank(query_bundle.query_str, nodes)]


def desk(model_url: str) -> dict[str, Callable[[Ticket], str]]:
    """The answering function of each route."""
    model = OpenAILike(
        model="stub-large", api_base=model_url, api_key="none", is_chat_model=True, max_retries=0,
        context_window=32_000,
    )  # fmt: skip
    retriever = ArticleSearch()
    engines = {
        streams: RetrieverQueryEngine.from_args(
            retriever, llm=model, node_postprocessors=[Reranking()], streaming=streams
        )
        for streams in (False, True)
    }

    def plain(ticket: Ticket) -> str:
        kept = _rerank(ticket.question, retriever.retrieve(ticket.question))
        shown = search.fitting(kept, is_tight=ticket.is_tight)
        journal.note(shown=[chunk.id for chunk in shown])
        return _generate(model, ticket, shown)

    def engine(ticket: Ticket) -> str:
        reply = engines[ticket.is_streamed].query(ticket.question)
        return "".join(reply.response_gen) if ticket.is_streamed else str(reply.response)

    return {"plain": plain, "engine": engine}


def _generate(model: OpenAILike, ticket: Ticket, shown: Sequence[Chunk]) -> str:
    user = prompts.user_message(ticket.style, ticket.question, shown)
    messages = [ChatMessage(role="system", content=prompts.SYSTEM),
                ChatMessage(role="user", content=user)]  # fmt: skip
    if ticket.is_streamed:
        return "".join(piece.delta or "" for piece in model.stream_chat(messages))
    return str(model.chat(messages).message.content or "")


def _rerank(question: str, nodes: Sequence[NodeWithScore]) -> list[tuple[Chunk, float]]:
    return search.rerank(question, [search.CHUNKS[node.node.node_id] for node in nodes])


def _node(chunk: Chunk, score: float) -> NodeWithScore:
    metadata: dict[str, Any] = {"id": chunk.id}
    return NodeWithScore(
        node=TextNode(id_=chunk.id, text=chunk.text, metadata=metadata), score=score
    )
