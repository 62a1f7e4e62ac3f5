"""Change notices: what changed in a service, on which route, since when. They never page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Cause(StrEnum):
    """The cause that a regression is attributed to; not a layer of a rubric."""

    RETRIEVAL = "retrieval"
    GENERATION = "generation"
    CORPUS = "corpus"


class ChangeKind(StrEnum):
    """What changed."""

    RECHUNKED = "re-chunked"
    """Documents stable, their chunks new, chunk length moved."""
    REEMBEDDED = "re-embedded"
    """The same chunks with other scores: embedding or retriever settings."""
    OTHER_CHUNKS = "other_chunks"
    """Other chunks for the same questions, though those of before still exist: a broken index."""
    OTHER_ORDER = "chunk_order"
    """The same chunks in another order."""
    RERANKED = "reranked_otherwise"
    """Of the same retrieved chunks others reach the prompt: a reranker that nobody named."""
    DOCUMENTS = "documents_changed"
    """Documents were added, removed or changed."""
    REINDEXED = "re-indexed"
    """Chunks new, and no document ids that would tell why."""
    CHUNK_COUNT = "chunk_count"
    """More or fewer chunks a request: top-k, or a reranker that drops some."""
    EMBEDDING_MODEL = "embedding_model"
    RERANKER = "reranker"
    """Another reranker, a new one, or none any more."""
    INDEX = "index_epoch"
    """The service states another index version."""
    LLM_MODEL = "llm_model"
    PROMPT = "prompt"
    TEMPERATURE = "temperature"
    MAX_TOKENS = "max_tokens"
    TOP_K = "top_k"
    RELEASE = "release"
    """Another `service.version`, or another stated version of what stayed the same."""


COUNTS = frozenset({"retrieved", "in_prompt"})
"""Numbers of chunks in the evidence of a notice, each with its median before and since."""
AS_BEFORE = "as_before"
"""In the evidence of a notice: the requests that show it find what they found before the change
that came before it, as while that is put back."""
CAUSES: Mapping[ChangeKind, tuple[Cause, ...]] = {
    ChangeKind.RECHUNKED: (Cause.RETRIEVAL,),
    ChangeKind.REEMBEDDED: (Cause.RETRIEVAL,),
    ChangeKind.OTHER_CHUNKS: (Cause.RETRIEVAL,),
    ChangeKind.OTHER_ORDER: (Cause.RETRIEVAL,),
    ChangeKind.RERANKED: (Cause.RETRIEVAL,),
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
"""The causes that each kind of change can explain; a release may be anything."""


NOTICED_EPOCH = "noticed "
"""The prefix of an index epoch that no service stated, and that a noticed change names."""


MARK = "deploy-"
"""The prefix of the id of a change that was marked by `POST /api/v1/deploys`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One change on one route.

    `notice_id` is stable: a replay that finds the same change gives the same id.
    `since_unix_nano` is the time of the first request that shows the change, `noticed_unix_nano`
    that of the request at which it was certain, `requests` how many requests of the route came
    between. `share` is the share of the newest requests that show it: below 1 while a change rolls
    out. `before` and `after` are values in words. `evidence` holds JSON-able numbers: shares,
    lengths, ids.
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
        """Whether it was marked by a person or a pipeline, not noticed in the traffic."""
        return self.notice_id.startswith(MARK)

    @property
    def is_declared(self) -> bool:
        """Whether it was intended: a mark of any kind, a release, or what came with a release."""
        is_released = self.kind is ChangeKind.RELEASE or ChangeKind.RELEASE in self.evidence
        return self.is_marked or is_released
