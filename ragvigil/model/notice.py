"""Change notices: what of a service changed, on which route, since when. They never page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Cause(StrEnum):
    """What a regression can be pinned to. Not a layer of a rubric."""

    RETRIEVAL = "retrieval"
    GENERATION = "generation"
    CORPUS = "corpus"


class ChangeKind(StrEnum):
    """What changed."""

    RECHUNKED = "re-chunked"
    """Documents stable, their chunks new, chunk length moved."""
    REEMBEDDED = "re-embedded"
    """Chunks stable, other ones found or other scores: embedding or retriever settings."""
    DOCUMENTS = "documents_changed"
    """Documents new, gone or with other text."""
    REINDEXED = "re-indexed"
    """Chunks new, and no document ids to tell why."""
    CHUNK_COUNT = "chunk_count"
    """More or fewer chunks a request: top-k, or a reranker that cuts."""
    EMBEDDING_MODEL = "embedding_model"
    RERANKER = "reranker"
    """Another reranker, a new one, or none any more."""
    INDEX = "index_epoch"
    """The service says that its index is another one."""
    LLM_MODEL = "llm_model"
    PROMPT = "prompt"
    TEMPERATURE = "temperature"
    MAX_TOKENS = "max_tokens"
    TOP_K = "top_k"
    RELEASE = "release"
    """Another `service.version`."""


CAUSES: Mapping[ChangeKind, tuple[Cause, ...]] = {
    ChangeKind.RECHUNKED: (Cause.RETRIEVAL,),
    ChangeKind.REEMBEDDED: (Cause.RETRIEVAL,),
    ChangeKind.DOCUMENTS: (Cause.CORPUS,),
    ChangeKind.REINDEXED: (Cause.RETRIEVAL, Cause.CORPUS),
    ChangeKind.CHUNK_COUNT: (Cause.RETRIEVAL,),
    ChangeKind.EMBEDDING_MODEL: (Cause.RETRIEVAL,),
    ChangeKind.RERANKER: (Cause.RETRIEVAL,),
    ChangeKind.INDEX: (Cause.RETRIEVAL, Cause.CORPUS),
    ChangeKind.LLM_MODEL: (Cause.GENERATION,),
    ChangeKind.PROMPT: (Cause.GENERATION,),
    ChangeKind.TEMPERATURE: (Cause.GENERATION,),
    ChangeKind.MAX_TOKENS: (Cause.GENERATION,),
    ChangeKind.TOP_K: (Cause.RETRIEVAL,),
    ChangeKind.RELEASE: (),
}
"""What a change of each kind can explain; a release may be anything."""


NOTICED_EPOCH = "noticed "
"""Begins an index epoch that no service has stated: the change itself names it."""


MARK = "deploy-"
"""Begins the id of a change that somebody marked, by `POST /api/v1/deploys`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One change on one route.

    `notice_id` is the same again when a replay finds the same change. `since_unix_nano` is the
    time of the first request that shows it, `noticed_unix_nano` that of the request at which it
    was certain, `requests` how many of the route lie between. `share` is the share of the newest
    requests that show it: under 1 while a change rolls out. `before` and `after` are values in
    words. `evidence` holds JSON-able numbers: shares, lengths, ids.
    """

    notice_id: str
    kind: ChangeKind
    service: str
    environment: str
    route: str
    since_unix_nano: int
    noticed_unix_nano: int
    requests: int
    share: float = 1.0
    before: str = ""
    after: str = ""
    evidence: Mapping[str, object] = field(default_factory=dict)

    @property
    def is_marked(self) -> bool:
        """Whether somebody marked it, and nobody had to notice."""
        return self.notice_id.startswith(MARK)

    @property
    def is_declared(self) -> bool:
        """Whether it says of itself that it is meant: a mark of any kind, or a release."""
        return self.is_marked or self.kind is ChangeKind.RELEASE
