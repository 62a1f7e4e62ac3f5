"""Prepared chunks: computed once per content, within a bound."""

from __future__ import annotations

from scorers.text.chunk_text import BYTES_PER_CHUNK, ChunkText, ChunkTextCache
from scorers.text.normalise import words


def test_the_same_content_is_prepared_once() -> None:
    chunks = ChunkTextCache(max_bytes=1 << 20)
    assert chunks.get("Refunds take 5 days.") is chunks.get("Refunds take 5 days.")


def test_the_least_recently_used_chunk_is_evicted_first() -> None:
    chunks = ChunkTextCache(max_bytes=3 * BYTES_PER_CHUNK)
    first, second = chunks.get("a"), chunks.get("b")
    assert chunks.get("a") is first
    chunks.get("c")
    assert chunks.get("a") is first
    assert chunks.get("b") is not second


def test_many_chunks_stay_within_the_memory_bound() -> None:
    chunks = ChunkTextCache(max_bytes=10 * BYTES_PER_CHUNK)
    for number in range(1_000):
        chunks.get(f"chunk {number}")
    assert 1 <= len(chunks) <= 10


def test_a_tighter_bound_holds_from_the_next_chunk_on() -> None:
    chunks = ChunkTextCache(max_bytes=1 << 20)
    for number in range(20):
        chunks.get(f"chunk {number}")
    chunks.bound(5 * BYTES_PER_CHUNK)
    chunks.get("another")
    assert 1 <= len(chunks) <= 5


def test_what_a_scorer_makes_of_a_chunk_is_made_once_and_goes_with_it() -> None:
    made = []

    def shout(content: str) -> str:
        made.append(content)
        return content.upper()

    chunks = ChunkTextCache(max_bytes=BYTES_PER_CHUNK)
    for content in ("a", "a", "b", "a"):
        assert chunks.get(content).derived(shout) == content.upper()
    assert made == ["a", "b", "a"]


def test_one_chunk_larger_than_the_bound_is_still_prepared() -> None:
    chunks = ChunkTextCache(max_bytes=1)
    assert chunks.get("Refunds take 5 days.").words == words("Refunds take 5 days.")
    assert len(chunks) == 1


def test_sentences_begin_at_their_first_word() -> None:
    assert ChunkText("It is free. Ask us. 退款。好").starts >= {0, 3, 5, 7}
