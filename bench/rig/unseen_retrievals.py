"""Questions of labelled sets with what a healthy service retrieves for them, and with junk.

Healthy: the chunks that people judged relevant, or that the answer was written from, at most KEPT;
then chunks of other groups of the set that BM25 finds, up to FETCHED; the first KEPT reach the
prompt. Junk: three texts that no question of the set is about, for every question the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bench.rig.labelled import rows
from bench.rig.unseen_answers import Neighbours, Row, chunks_of, group_of
from ragvigil.model.record import Document, RagRecord

FETCHED, KEPT = 8, 5
SETS = (
    "ragtruth_qa", "clapnq_dev", "mtrag_un", "expertqa_claims", "attributionbench_dev",
    "lfqa_verification", "halueval_qa", "rgb_fact", "trecqa_relevance", "cranfield_relevance",
)  # fmt: skip
JUNK: Mapping[str, tuple[str, ...]] = {
    "site": (
        "We use cookies to improve your experience. By browsing on you accept our use of cookies.",
        "Home | About us | Careers | Press | Contact. Follow us and subscribe to the newsletter.",
        "All rights reserved. No part of this site may be copied without written consent.",
    ),
    "other_topic": (
        "Whisk the egg yolks with the sugar until pale, fold in the mascarpone, chill overnight.",
        "Tighten the spokes a quarter turn at a time and spin the wheel to see whether it is true.",
        "The sonata is in three movements; the slow one is in a minor key, with a short cadenza.",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """A question and what was retrieved for it; the first `relevant` chunks are relevant."""

    of: str
    group: str
    question: str
    chunks: tuple[str, ...]
    relevant: int

    def record(self) -> RagRecord:
        """The record of a service that fetched all chunks and showed the model the first KEPT."""
        chunks = tuple(
            Document(chunk_id=str(place), content=text) for place, text in enumerate(self.chunks)
        )
        return RagRecord(
            record_id="1", trace_id="1", query=self.question, retrieved=chunks,
            context=chunks[:KEPT],
        )  # fmt: skip

    def with_junk(self, kind: str) -> Retrieval:
        """The same question with nothing but junk."""
        return Retrieval(
            of=self.of, group=self.group, question=self.question, chunks=JUNK[kind], relevant=0
        )


def retrievals(name: str, *, small: bool = False) -> Iterator[Retrieval]:
    """A retrieval for each question of a set that has a relevant chunk, in the order of the set."""
    pool = rows(name, small=small)
    near = Neighbours(pool)
    relevant: dict[tuple[str, str], dict[str, None]] = {}
    for row in pool:
        question = (row.get("question") or "").strip()
        if question and _is_answerable(row):
            own = relevant.setdefault((group_of(row), question), {})
            own.update(dict.fromkeys(chunks_of(row, 1)))
    for (group, question), own in relevant.items():
        texts = list(own)[:KEPT]
        if texts:
            others = near.of(question, group, FETCHED - len(texts))
            yield Retrieval(
                of=name, group=group, question=question, chunks=(*texts, *others),
                relevant=len(texts),
            )  # fmt: skip


def _is_answerable(row: Row) -> bool:
    return not row.get("unanswerable") and row.get("label") != "UNDERSPECIFIED"
