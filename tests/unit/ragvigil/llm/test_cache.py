"""The cache knows what was asked before, forgets the oldest, and survives a bad file."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragvigil.llm.cache import Cache, cache_key

PARTS = {
    "model": "openai:m",
    "prompt_version": "1",
    "rubric": "groundedness",
    "question": "What does it cost?",
    "answer": "Five euros.",
    "chunk_hashes": ["aa", "bb"],
}


def key(**changed: object) -> str:
    return cache_key(**(PARTS | changed))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changed",
    [
        {"model": "openai:n"},
        {"prompt_version": "2"},
        {"rubric": "completeness"},
        {"question": "What did it cost?"},
        {"question": "what does it cost?"},
        {"answer": "Five  euros."},
        {"chunk_hashes": ["bb", "aa"]},
        {"chunk_hashes": ["aabb"]},
        {"chunk_hashes": ["aa"]},
        {"model": "openai:m1", "prompt_version": ""},
    ],
    ids=str,
)
def test_every_part_changes_the_key(changed: dict[str, object]) -> None:
    assert key(**changed) != key()


def test_white_space_and_unicode_form_of_the_question_do_not_change_the_key() -> None:
    assert key(question="  What\tdoes it\n cost? ") == key()
    assert key(question="caf\u00e9") == key(question="cafe\u0301")


@given(st.lists(st.text(), min_size=5, max_size=5), st.lists(st.text(), min_size=5, max_size=5))
def test_no_two_sets_of_parts_share_a_key(first: list[str], second: list[str]) -> None:
    def of(parts: list[str]) -> str:
        model, version, rubric, answer, chunk = parts
        return key(
            model=model, prompt_version=version, rubric=rubric, answer=answer, chunk_hashes=[chunk]
        )

    assert (of(first) == of(second)) == (first == second)


def test_a_lone_surrogate_in_a_text_has_a_key_too() -> None:
    assert key(answer="\ud800") != key(answer="?")


OPERATIONS = st.lists(st.tuples(st.booleans(), st.sampled_from("abcdefgh")), max_size=60)


@given(OPERATIONS, st.integers(0, 5))
def test_it_keeps_what_an_ordered_dictionary_would_keep(
    operations: list[tuple[bool, str]], entries: int
) -> None:
    cache, model = Cache(entries), OrderedDict[str, tuple[str, str]]()
    for is_put, name in operations:
        if is_put:
            cache.put(name, f"reply {name}", "m")
            if entries and name not in model:
                model[name] = (f"reply {name}", "m")
                if len(model) > entries:
                    model.popitem(last=False)
        else:
            if name in model:
                model.move_to_end(name)
            assert cache.get(name) == model.get(name)
        assert len(cache) == len(model)
    cache.close()


def test_a_file_outlives_a_restart_and_a_smaller_bound_evicts_the_oldest(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    cache = Cache(10, path)
    for name in "abcd":
        cache.put(name, name.upper(), "m")
    cache.get("a")
    cache.close()
    again = Cache(2, path)
    assert [again.get(name) for name in "abcd"] == [("A", "m"), None, None, ("D", "m")]
    again.close()


def test_a_file_that_is_no_cache_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_bytes(b"this is not a database, and it is long enough to be read as a header" * 40)
    cache = Cache(10, path)
    cache.put("a", "A", "m")
    assert cache.get("a") == ("A", "m")
    cache.close()


def test_a_file_of_another_version_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    other = sqlite3.connect(path)
    other.executescript("CREATE TABLE replies (what TEXT); PRAGMA user_version = 99")
    other.close()
    cache = Cache(10, path)
    cache.put("a", "A", "m")
    assert cache.get("a") == ("A", "m")
    cache.close()
