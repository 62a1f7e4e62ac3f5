"""A file of records is scored line by line; a line that is no record is named and refused."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragvigil.app.cli.input.record_line import BadLine, parse_record
from ragvigil.app.cli.score import score_file
from ragvigil.app.settings import Settings
from ragvigil.model.record import Absent

CHUNK = "Card refunds take 5 to 7 business days."
GOOD = {
    "question": "How long?",
    "answer": 'It says "Card refunds take 5 to 7 business days" [refund-02].',
    "chunks": [{"id": "refund-02", "text": CHUNK}],
}


def parsed(**row: Any) -> Any:
    return parse_record(json.dumps(row), 3)


def scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | bytes
) -> tuple[int, list[dict[str, Any]], str]:
    """The exit status, the lines on standard output, and standard error."""
    path = tmp_path / "records.jsonl"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    status = score_file(path, Settings(), as_json=True)
    shown = capsys.readouterr()
    return status, [json.loads(line) for line in shown.out.splitlines()], shown.err


def values(shown: dict[str, Any]) -> dict[str, float | None]:
    return {score["rubric"]: score["value"] for score in shown["scores"]}


def test_a_quotation_is_checked_against_the_chunk_that_its_marker_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = GOOD | {"answer": 'It says "Card refunds take 2 days" [refund-02].', "id": "wrong"}
    status, (right, false), _ = scored(
        tmp_path, capsys, f"{json.dumps(GOOD)}\n{json.dumps(wrong)}\n"
    )
    assert status == 0
    assert (values(right)["citation_validity"], values(false)["citation_validity"]) == (1.0, 0.0)
    assert (right["trace_id"], false["trace_id"]) == ("1", "wrong")


def test_a_refused_line_is_named_by_its_place_in_the_file_and_the_rest_is_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"\n{json.dumps(GOOD)}\n\nnot json\n{json.dumps(GOOD)}\n"
    status, shown, errors = scored(tmp_path, capsys, text)
    assert status == 1
    assert len(shown) == 2
    assert errors.startswith("line 4: is not JSON: ")
    assert len(errors.splitlines()) == 1


def test_bytes_that_are_no_text_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, shown, errors = scored(tmp_path, capsys, b'{"answer": "caf\xe9"}\n')
    assert (status, shown) == (1, [])
    assert errors.startswith("line 1: is not JSON: ")


def test_a_file_that_is_not_there_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "nowhere.jsonl"
    assert score_file(path, Settings(), as_json=True) == 2
    assert capsys.readouterr().err == f"{path}: cannot be read: No such file or directory\n"


def test_a_dash_reads_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = SimpleNamespace(buffer=io.BytesIO(json.dumps(GOOD).encode()))
    monkeypatch.setattr(sys, "stdin", given)
    assert score_file(Path("-"), Settings(), as_json=False) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "1  How long?"
    assert any("citation_validity" in line and " 1.00 " in line for line in lines)


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ([1], "line 3: is not an object with question, answer and chunks"),
        ({"answer": 5}, "line 3: answer is not a string"),
        ({"question": ["a"]}, "line 3: question is not a string"),
        ({"chunks": "one text"}, "line 3: chunks is not a list"),
        ({"chunks": 7}, "line 3: chunks is not a list"),
        ({"context": {"id": "a"}}, "line 3: context is not a list"),
        ({"chunks": [{"id": "a"}]}, 'line 3: chunk 1 is not a string or {"id", "text"}'),
        ({"chunks": ["a", None]}, 'line 3: chunk 2 is not a string or {"id", "text"}'),
        ({"citations": "refund-02"}, "line 3: citations is not a list"),
        ({"citations": [None]}, 'line 3: citation 1 is not an id or {"id", "quote"}'),
        ({"citations": [{"quote": "x"}]}, 'line 3: citation 1 is not an id or {"id", "quote"}'),
    ],
    ids=str,
)
def test_what_is_no_record_is_one_sentence(row: object, sentence: str) -> None:
    with pytest.raises(BadLine) as found:
        parse_record(json.dumps(row), 3)
    assert str(found.value) == sentence


def test_a_line_nested_without_end_is_refused() -> None:
    with pytest.raises(BadLine, match="line 3: is not JSON"):
        parse_record("[" * 200_000, 3)


def test_absent_is_not_empty() -> None:
    assert parsed().absent == {"context": Absent.NOT_SENT, "answer": Absent.NOT_SENT}
    assert parsed(answer="", chunks=[]).absent == {}
    assert parsed(answer=None, chunks=None).absent == parsed().absent


def test_chunks_may_be_texts_and_have_other_names() -> None:
    texts = parsed(context=["one", {"content": "two"}, {"id": 7, "text": "three"}]).context
    assert [(document.chunk_id, document.content, document.rank) for document in texts] == [
        ("chunk-1", "one", 0), ("chunk-2", "two", 1), ("7", "three", 2),
    ]  # fmt: skip


def test_citations_that_are_given_win_over_the_markers() -> None:
    record = parsed(**GOOD, citations=["refund-02", {"id": "lost", "quote": "q"}])
    cited = record.citations
    assert [(citation.target, citation.chunk_id, citation.quote) for citation in cited] == [
        ("refund-02", "refund-02", None), ("lost", None, "q"),
    ]  # fmt: skip
    assert parsed(**GOOD, citations=[]).citations == ()
    assert [citation.chunk_id for citation in parsed(**GOOD).citations] == ["refund-02"]


def test_names_may_be_numbers_and_null_is_no_name() -> None:
    assert (parsed(id=5).record_id, parsed(id=5).trace_id) == ("5", "5")
    assert (parsed(id=None).record_id, parsed(id="a", trace_id="t").trace_id) == ("3", "t")


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
keys = st.sampled_from(
    ["id", "trace_id", "question", "query", "answer", "chunks", "context", "citations",
     "finish_reason"]
)  # fmt: skip


@given(st.one_of(json_values, st.dictionaries(keys, json_values)))
def test_any_json_is_a_record_or_refused_by_its_line(row: object) -> None:
    try:
        record = parse_record(json.dumps(row), 3)
    except BadLine as error:
        found = str(error)
    else:
        found = f"line 3: {record.record_id}"
    assert found.startswith("line 3: ")


def test_text_that_the_terminal_cannot_show_is_shown_escaped(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(json.dumps(GOOD | {"question": "\ud800 – 退款"}), encoding="ascii")
    for encoding in ("utf-8", "ascii"):
        done = subprocess.run(
            [sys.executable, "-m", "ragvigil.app.cli.main", "score", str(path)],
            env=os.environ | {"PYTHONIOENCODING": encoding},
            cwd=tmp_path,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert b"\\ud800" in done.stdout


def test_keys_that_nothing_reads_are_named_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = json.dumps(GOOD | {"retrieved": [CHUNK], "[judge]": 1})
    status, shown, told = scored(tmp_path, capsys, f"{line}\n{line}\n")
    assert (status, len(shown)) == (0, 2)
    assert told == (
        "line 1: nothing reads [judge], retrieved; the keys are "
        "question, answer, chunks, citations, finish_reason, trace_id, id\n"
    )


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_file_is_said_to_be_empty(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    status, shown, told = scored(tmp_path, capsys, text)
    assert (status, shown) == (2, [])
    assert told.endswith(
        "records.jsonl: is empty; `ragvigil help record file` says what it holds\n"
    )
