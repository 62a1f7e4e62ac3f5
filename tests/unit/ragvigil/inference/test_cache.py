"""The cache of vectors: it forgets what was not asked for longest, and answers only what it has."""

from __future__ import annotations

from collections import OrderedDict

from hypothesis import given
from hypothesis import strategies as st

from ragvigil.inference.cache import VectorCache, text_hash

keys = st.sampled_from([bytes([place]) for place in range(8)])


@given(entries=st.integers(0, 5), asked=st.lists(st.tuples(st.booleans(), keys), max_size=60))
def test_it_keeps_the_most_recently_used_and_no_more(
    entries: int, asked: list[tuple[bool, bytes]]
) -> None:
    cache, naive = VectorCache(entries), OrderedDict[bytes, bytes]()
    for is_kept, key in asked:
        if is_kept:
            cache.keep({key: key * 3})
            naive[key] = key * 3
        else:
            assert cache.find([key]) == ({key: key * 3} if key in naive else {})
        if key in naive:
            naive.move_to_end(key)
        if len(naive) > entries:
            naive.popitem(last=False)
    assert len(cache) == len(naive)
    assert cache.find(naive) == naive


@given(first=st.text(), second=st.text())
def test_only_equal_texts_share_a_hash(first: str, second: str) -> None:
    assert (text_hash(first) == text_hash(second)) == (first == second)


def test_a_cleared_cache_knows_nothing() -> None:
    cache = VectorCache(4)
    cache.keep({b"a": b"1"})
    cache.clear()
    assert not cache.find([b"a"])
