"""Golden files: what is read, what is refused, and the line of an error."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from scorers import golden
from scorers.golden import BadGolden, Case, Fact, Gold, parse_case, question_key, read_golden


def written(folder: Path, *lines: str) -> Path:
    path = folder / "golden.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(golden).failed == 0


def test_a_case_is_read_with_optional_keys_missing(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        '{"question": "How long?", "gold_chunk_ids": ["a"], "gold_texts": ["Five days."],'
        ' "gold_answer": "five", "slice": "easy", "query_type": "canonical", "author": {"x": 1}}',
    )
    gold = (Gold(chunk_id="a", text="Five days."),)
    case = Case(
        question="How long?", gold=gold, gold_answer="five", slice="easy", query_type="canonical"
    )
    assert dict(read_golden(path)) == {"how long": case}


def test_expected_facts_are_vital_unless_they_say_otherwise() -> None:
    written_ = ["Five days.", {"fact": "By card."}, {"fact": "Free.", "importance": "okay"}]
    case = parse_case({"question": "q", "expected_facts": written_})
    assert case.facts == (
        Fact(text="Five days."),
        Fact(text="By card."),
        Fact(text="Free.", is_vital=False),
    )


@pytest.mark.parametrize(
    ("fact", "problem"),
    [
        ("?", "expected_facts: '?' has no fact with words"),
        (7, "expected_facts: 7 has no fact with words"),
        ({"importance": "okay"}, "expected_facts: {'importance': 'okay'} has no fact with words"),
        (
            {"fact": "a", "importance": "high"},
            "expected_facts: importance: 'high' is not vital or okay",
        ),
    ],
)
def test_a_malformed_fact_is_refused(fact: object, problem: str) -> None:
    with pytest.raises(ValueError, match="expected_facts") as error:
        parse_case({"question": "q", "expected_facts": [fact]})
    assert str(error.value) == problem


def test_a_byte_order_mark_and_empty_lines_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"question": "a"}\r\n\r\n{"question": "b"}\n')
    assert list(read_golden(path)) == ["a", "b"]


def test_a_line_separator_inside_a_text_ends_no_line(tmp_path: Path) -> None:
    path = written(tmp_path, '{"question": "a\u2028b"}')
    assert len(read_golden(path)) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How long does a refund take?", "how  long does a refund take"),
        ("Wie lange dauert die Rückgabe?", "WIE LANGE DAUERT DIE RÜCKGABE"),
        ("退款需要几天?", "退款 需要几天"),
    ],
)
def test_a_question_is_known_by_its_words(one: str, other: str) -> None:
    assert question_key(one) == question_key(other)


def test_questions_with_other_numbers_are_others() -> None:
    assert question_key("What happened in 2019?") != question_key("What happened in 2020?")


def test_ids_and_texts_in_different_numbers_are_separate_chunks() -> None:
    case = parse_case({"question": "q", "gold_chunk_ids": ["a"], "gold_texts": ["One.", "Two."]})
    assert case.gold == (Gold(chunk_id="a"), Gold(text="One."), Gold(text="Two."))


def test_a_case_needs_no_gold_chunks() -> None:
    assert parse_case({"question": "q", "gold_chunk_ids": [], "gold_texts": None}).gold == ()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "is not JSON: "),
        ("[1]", "is not a JSON object"),
        ("{}", "question: is missing or has no words"),
        ('{"question": "?!"}', "question: is missing or has no words"),
        ('{"question": 7}', "question: 7 is not a text"),
        ('{"question": "FIRST"}', "question: line 1 asks the same"),
        ('{"question": "q", "gold_chunk_ids": "a"}', "gold_chunk_ids: 'a' is not a list"),
        ('{"question": "q", "gold_chunk_ids": [" "]}', "gold_chunk_ids: ' ' is not an id"),
        ('{"question": "q", "gold_chunk_ids": [true]}', "gold_chunk_ids: True is not an id"),
        ('{"question": "q", "gold_texts": ["..."]}', "gold_texts: '...' is not a text with words"),
        ('{"question": "q", "slice": ["easy"]}', "slice: ['easy'] is not a text"),
    ],
)
def test_a_wrong_line_is_named_with_its_file_and_number(
    tmp_path: Path, line: str, reason: str
) -> None:
    path = written(tmp_path, '{"question": "first"}', "", line)
    with pytest.raises(BadGolden) as error:
        read_golden(path)
    assert str(error.value).startswith(f"{path}:3: {reason}")


def test_a_file_without_a_case_or_of_binary_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadGolden, match="holds no case"):
        read_golden(written(tmp_path, "", " "))
    path = tmp_path / "latin.jsonl"
    path.write_bytes(b'{"question": "a"}\n{"question": "\xe9"}')
    with pytest.raises(BadGolden, match=":2: is not UTF-8"):
        read_golden(path)
    with pytest.raises(BadGolden, match="is not a file that can be read"):
        read_golden(tmp_path)
