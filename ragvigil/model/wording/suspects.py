"""What an incident knows of its cause, in words: for the name and the report of its issue. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ragvigil.model.figures import date_time
from ragvigil.model.incident import RERANKER, Incident
from ragvigil.model.notice import CAUSES, Cause, ChangeKind, Notice

CHANGES: Mapping[ChangeKind, str] = {
    ChangeKind.RECHUNKED: "chunks are cut otherwise",
    ChangeKind.REEMBEDDED: "the same chunks get other scores",
    ChangeKind.OTHER_CHUNKS: "the index returns other chunks",
    ChangeKind.OTHER_ORDER: "chunks come in another order",
    ChangeKind.RERANKED: "the reranker keeps other chunks",
    ChangeKind.DOCUMENTS: "other documents are found",
    ChangeKind.REINDEXED: "all chunks are new",
    ChangeKind.CHUNK_COUNT: "another number of chunks is retrieved",
    ChangeKind.EMBEDDING_MODEL: "the embedding model changed",
    ChangeKind.RERANKER: "the reranker changed",
    ChangeKind.INDEX: "the index version changed",
    ChangeKind.LLM_MODEL: "the model changed",
    ChangeKind.PROMPT: "the prompt changed",
    ChangeKind.TEMPERATURE: "the temperature changed",
    ChangeKind.MAX_TOKENS: "the token limit changed",
    ChangeKind.TOP_K: "top-k changed",
    ChangeKind.RELEASE: "a release",
}
STATED = frozenset(
    {
        ChangeKind.CHUNK_COUNT,
        ChangeKind.EMBEDDING_MODEL,
        ChangeKind.INDEX,
        ChangeKind.LLM_MODEL,
        ChangeKind.MAX_TOKENS,
        ChangeKind.PROMPT,
        ChangeKind.RERANKER,
        ChangeKind.TEMPERATURE,
        ChangeKind.TOP_K,
    }
)
"""Changes whose values tell two of them apart."""
LONGEST_VALUE = 30
WENT_BACK = "the index went back to an older version"
DOCUMENTS: Mapping[str, str] = {
    "gone": "documents are gone",
    "edited": "documents come in other versions",
    "new": "new documents are found",
}
"""By the word that a notice has for them."""
_OF_DOCUMENTS = re.compile(rf"(?:^|; )(\d+) (?:chunks )?({'|'.join(DOCUMENTS)})\b")
_SHARE = re.compile(r" on \d+ % of requests$")
"""Each route has its own."""
_NUMBER = re.compile(r"\d+")
LAYERS: Mapping[Cause, str] = {
    Cause.RETRIEVAL: "retrieval got worse",
    Cause.GENERATION: "with the chunks as before",
}
"""What happened where no change is suspected."""
NANOS = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspectedChange:
    """A change that an incident suspects, on all routes that show it.

    `since_unix_nano` is the time of the first request that shows it.
    """

    words: str
    kind: ChangeKind
    since_unix_nano: int
    routes: tuple[str, ...]


def suspected(incident: Incident) -> list[SuspectedChange]:
    """The changes that an incident suspects, the likeliest first; those of all routes are one."""
    alike: dict[tuple[ChangeKind, str], list[Notice]] = {}
    for change in incident.suspects:
        if change.kind in CHANGES:
            alike.setdefault((change.kind, _words(change)), []).append(change)
    found = [_suspected(words, changes) for (_, words), changes in alike.items()]
    fits = [change for change in found if incident.cause in CAUSES[change.kind]] or found
    # One route may show it in a way of its own: what most of them show is what happened.
    return sorted(found, key=lambda change: (change not in fits, -len(change.routes)))


def change_words(incident: Incident) -> str:
    """Since which change, or since when and what else an incident says of its cause."""
    known = suspected(incident)
    if known:
        return f"since {known[0].words}"
    layer = LAYERS.get(incident.cause, "") if incident.cause else ""
    what = "reranking got worse" if incident.verdict.part == RERANKER else layer
    began = datetime.fromtimestamp(incident.since_unix_nano // NANOS, UTC)
    since = f"since {date_time(began)}"
    return f"{since}, {what}" if what else since


def _suspected(words: str, changes: Sequence[Notice]) -> SuspectedChange:
    return SuspectedChange(
        words=words,
        kind=changes[0].kind,
        since_unix_nano=min(change.since_unix_nano for change in changes),
        routes=tuple(sorted({change.route for change in changes if change.route})),
    )


def _words(change: Notice) -> str:
    """What changed, with its values where the service states short ones."""
    if change.kind is ChangeKind.OTHER_CHUNKS and change.after:
        # In words: the same few for all are junk, others for some questions a broken index.
        return f"the index returns {_SHARE.sub('', change.after)}"
    if change.kind is ChangeKind.DOCUMENTS:
        return _documents(change.after)
    is_back = change.kind is ChangeKind.INDEX and is_older(change.after, change.before)
    what = WENT_BACK if is_back else CHANGES[change.kind]
    values = (change.before, change.after)
    is_short = all(values) and max(map(len, values)) <= LONGEST_VALUE
    told = f" ({change.before} → {change.after})" if change.kind in STATED and is_short else ""
    return f"{what}{told}"


def _documents(after: str) -> str:
    """What happened to most of the documents that a change is about.

    >>> _documents("2 new: a, b; 7 gone: c, d, e, f, g and 2 more"), _documents("9 chunks gone")
    ('documents are gone', 'documents are gone')
    """
    counts = {verb: int(number) for number, verb in _OF_DOCUMENTS.findall(after)}
    most = max(counts, key=lambda verb: counts[verb], default="")
    return DOCUMENTS.get(most, CHANGES[ChangeKind.DOCUMENTS])


def is_older(value: str, other: str) -> bool:
    """Whether a version is older than another of the same form, by its numbers.

    >>> is_older("v6", "v7"), is_older("v10", "v9"), is_older("2.1", "p3")
    (True, False, False)
    """
    if _NUMBER.sub("#", value) != _NUMBER.sub("#", other):
        return False
    numbers = [tuple(map(int, _NUMBER.findall(text))) for text in (value, other)]
    return numbers[0] < numbers[1]
