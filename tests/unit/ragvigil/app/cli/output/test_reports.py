"""What people read at the terminal; scripts get the same as one JSON document."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragvigil.app.cli.output.console import BARS, sparkline
from ragvigil.app.cli.output.deltas import LAYERS, print_all_deltas, print_deltas
from ragvigil.app.cli.output.reports import (
    print_doctor,
    print_judges,
    print_labels,
    print_status,
    print_trace,
)


@pytest.fixture(autouse=True)
def a_wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("FORCE_COLOR", raising=False)


def delta(window: str = "6h", **changes: Any) -> dict[str, Any]:
    """A row of the API's deltas."""
    return {
        "service": "desk", "environment": "", "route": "/ask", "rubric": "citation_validity",
        "layer": "cross_cutting", "window": window, "n": 40, "mean": 0.8, "baseline": 0.9,
        "delta": -0.1, "low": -0.15, "high": -0.05, "moved": "fell",
        "since": "2026-03-01T06:00:00Z", "hours": [0.9, None, 0.7], **changes,
    }  # fmt: skip


VERDICT = {
    "state": "fails",
    "sentences": ["The right chunk was in the prompt.", "The answer contradicts its chunks."],
    "support": "One more check fails.",
    "failure_point": "generation",
}


def record(**changes: Any) -> dict[str, Any]:
    """A record of the API's trace."""
    return {
        "record_id": "r1", "route": "/ask", "query": "How long?", "answer": "5 days [a].",
        "context": [{"id": "a", "content": "5 days"}, {"id": "b", "content": None}],
        "context_source": "retrieved",
        "absent": {}, "scores": [], "truncated": [], "clock_replaced": False,
        "verdict": VERDICT, **changes,
    }  # fmt: skip


def test_a_script_gets_the_whole_answer_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    found = {"deltas": [delta(route="\x1b[2J")]}
    print_deltas(found, as_json=True)
    assert json.loads(capsys.readouterr().out) == found


def test_status_prints_a_line_a_value_under_its_section(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = {"spans": {"stored": 3}, "plugins": {"left_out": []}, "ready": True}
    print_status(found, as_json=False)
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["spans"], ["stored", "3"], ["plugins"], ["left_out", "none"], ["ready"], ["True"],
    ]  # fmt: skip


def test_status_prints_every_plug_in_that_is_left_out_on_its_own_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_status({"plugins": {"left_out": ["one: " + "x" * 300, "two [b]"]}}, as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[2].split() == ["left_out", "two", "[b]"]


def test_deltas_are_a_table_a_layer_and_a_line_a_series(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [
        delta(), delta("30m", mean=0.5), delta("24h"),
        delta(layer="retrieval", rubric="chunk_utilization", moved="no", since=None),
        delta(route="/silent", n=0),
    ]  # fmt: skip
    print_deltas({"deltas": rows}, as_json=False)
    out = capsys.readouterr().out
    titles = [line.strip() for line in out.splitlines() if line.strip() in LAYERS]
    assert titles == ["retrieval", "cross_cutting"]
    assert "/silent" not in out
    (line,) = [line for line in out.splitlines() if "citation_validity" in line]
    assert line.split() == [
        "desk", "/ask", "citation_validity", "0.50", "0.80", "0.90", "−10", "[−15,",
        "−5]", "40", "fell", "2026-03-01T06:00", "█", "▁",
    ]  # fmt: skip


def test_deltas_say_on_which_answers_a_judged_mean_rests(
    capsys: pytest.CaptureFixture[str],
) -> None:
    judged = {"layer": "generation", "judged_share": 0.07}
    rows = [
        delta(),
        delta(**judged, rubric="groundedness", estimate="corrected"),
        delta(**judged | {"judged_share": 0.068}, route="/b", rubric="groundedness",
              estimate="corrected"),
        delta(**judged, rubric="groundedness:failed", estimate=""),
    ]  # fmt: skip
    print_all_deltas({"deltas": rows}, as_json=False)
    assert [line for line in capsys.readouterr().out.splitlines() if "judged" in line] == [
        "6.8 to 7 % judged, corrected for the others: groundedness",
        "7 % judged: groundedness:failed",
    ]


def test_on_a_narrow_terminal_nothing_is_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    rows = [delta(), delta(rubric="refusal:partial", moved="no"), delta(route="/search")]
    print_deltas({"deltas": rows}, as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [
        ["cross_cutting", "6", "h", "moved", "by,", "points", "since"],
        ["desk", "/ask"],
        ["citation_validity", "0.80", "−10", "[−15,", "−5]", "fell", "2026-03-01T06:00"],
        ["desk", "/search"],
        ["citation_validity", "0.80", "−10", "[−15,", "−5]", "fell", "2026-03-01T06:00"],
        ["desk", "/ask"],
        ["refusal:partial", "0.80", "−10", "[−15,", "−5]"],
    ]
    assert max(map(len, lines)) <= 80


def test_a_pipe_has_the_whole_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS")
    print_deltas({"deltas": [delta(route="/a-route-with-a-long-name/" * 3)]}, as_json=False)
    assert "/a-route-with-a-long-name/" * 3 in capsys.readouterr().out


def test_a_pipe_has_every_text_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS")
    text = "word " * 500
    context = [{"id": "a", "content": text}]
    print_trace({"trace_id": "t", "records": [record(context=context)]}, as_json=False)
    assert text.strip() in capsys.readouterr().out


def test_what_moved_stands_first_in_ten_lines(capsys: pytest.CaptureFixture[str]) -> None:
    quiet = [delta(route=f"/{n:02}", moved="no", since=None) for n in range(20)]
    moved = [delta(route="/wide", delta=-0.4), delta(route="/rose", delta=0.2, moved="rose")]
    print_deltas({"deltas": [*quiet, *moved]}, as_json=False)
    *lines, last = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines[2:]] == [
        "/wide", "/rose", *(f"/{n:02}" for n in range(8)),
    ]  # fmt: skip
    assert last == "and 12 more, none of them moved: `ragvigil deltas --all`"
    print_all_deltas({"deltas": [*quiet, *moved]}, as_json=False)
    assert len(capsys.readouterr().out.splitlines()) == 2 + 22


def test_the_rate_of_failing_answers_does_not_double_the_mean_of_its_rubric(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [delta(), delta(rubric="citation_validity:failed"), delta(rubric="refusal:failed")]
    print_deltas({"deltas": rows}, as_json=False)
    shown = capsys.readouterr().out
    assert "citation_validity:failed" not in shown
    assert "refusal:failed" in shown
    print_all_deltas({"deltas": rows}, as_json=False)
    assert "citation_validity:failed" in capsys.readouterr().out


def test_brackets_of_a_text_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    context = [{"id": "[bold]a", "content": "set [judge] model :smile:"}]
    print_trace({"trace_id": "t", "records": [record(context=context)]}, as_json=False)
    assert "[[bold]a] set [judge] model :smile:" in capsys.readouterr().out


def test_a_window_that_is_missing_is_a_dash_and_not_another_window(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_deltas({"deltas": [delta()]}, as_json=False)
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "citation" in line]
    assert line.split()[3:5] == ["–", "0.80"]
    print_deltas({"deltas": [delta("24h")]}, as_json=False)
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "citation" in line]
    assert line.split()[3:] == ["–", "–", "–", "–", "0"]


def test_a_mean_that_is_not_known_is_a_dash_and_not_zero(
    capsys: pytest.CaptureFixture[str],
) -> None:
    unknown = delta(mean=None, baseline=None, delta=None, low=None, high=None, moved="no")
    print_deltas({"deltas": [unknown]}, as_json=False)
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "citation" in line]
    assert line.split()[3:8] == ["–", "–", "–", "–", "40"]


def test_without_a_past_deltas_say_that_it_is_not_enough_yet(
    capsys: pytest.CaptureFixture[str],
) -> None:
    new = delta(baseline=None, delta=None, low=None, high=None, moved="")
    print_deltas({"deltas": [new]}, as_json=False)
    assert "not enough yet to compare with" in capsys.readouterr().out
    print_deltas({"deltas": [new, delta(route="/search")]}, as_json=False)
    assert "not enough yet" not in capsys.readouterr().out


def test_two_environments_of_a_service_can_be_told_apart(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_deltas({"deltas": [delta(environment="prod"), delta(environment="test")]}, as_json=False)
    out = capsys.readouterr().out
    assert "desk prod" in out
    assert "desk test" in out


def test_without_scores_deltas_say_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    print_deltas({"deltas": [delta(n=0)]}, as_json=False)
    assert capsys.readouterr().out.startswith("no scores yet: send spans")


def test_a_trace_shows_each_record_with_its_chunks_and_scores(
    capsys: pytest.CaptureFixture[str],
) -> None:
    scores = [
        {"rubric": "citation_validity", "value": 0.5, "label": "invented", "explanation": "[z]"},
        {"rubric": "refusal", "value": None, "label": "answered", "explanation": "words"},
    ]
    found = {"trace_id": "ab" * 16, "records": [record(scores=scores)]}
    print_trace(found, as_json=False)
    out = capsys.readouterr().out
    assert "question  How long?" in out
    assert "chunk     [a] 5 days" in out
    assert "chunk     [b] (text not in the spans)" in out
    assert "citation_validity       0.50  invented  [z]" in out
    assert "refusal                    –  answered  words" in out
    said = "The right chunk was in the prompt. The answer contradicts its chunks."
    assert f"verdict   {said}\n  failed in generation\n            One more check fails." in out


def test_a_trace_says_what_the_chunks_are(capsys: pytest.CaptureFixture[str]) -> None:
    compressed = record(context_source="reranked", absent={"retrieved": "not_sent"})
    records = [record(), compressed, record(context_source="inferred")]
    print_trace({"trace_id": "ab" * 16, "records": records}, as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert [line.strip() for line in lines if line.startswith("  chunks ")] == [
        "chunks    as the retriever returned them",
        "chunks    as the reranker returned them; what was retrieved is not seen",
        "chunks    retrieved, in an order from which a reranker without a span is inferred",
    ]


def test_what_is_absent_is_named_and_never_printed_as_a_value(
    capsys: pytest.CaptureFixture[str],
) -> None:
    hidden = record(query=None, answer=None, absent={"answer": "hidden", "query": "not_sent"})
    print_trace({"trace_id": "ab" * 16, "records": [hidden]}, as_json=False)
    out = capsys.readouterr().out
    assert "absent    answer: hidden" in out
    assert "None" not in out


def test_a_trace_without_records_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    print_trace({"trace_id": "ab" * 16, "records": []}, as_json=False)
    assert "no RAG answer in it" in capsys.readouterr().out


def test_what_a_service_sent_cannot_command_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sent = record(answer="\x1b]0;owned\x07 [red]bold[/red] \x9b2J", route="\x1b[2J")
    print_trace({"trace_id": "ab" * 16, "records": [sent]}, as_json=False)
    out = capsys.readouterr().out
    assert not {"\x1b", "\x07", "\x9b"} & set(out)
    assert "\\x1b]0;owned\\x07 [red]bold[/red] \\x9b2J" in out


def finding(**changes: Any) -> dict[str, Any]:
    return {
        "field": "usage", "reason": "not_sent", "share": 1, "scope": "openinference",
        "fix": "switch it on", "rubrics_off": [], **changes,
    }  # fmt: skip


def test_the_doctor_says_once_what_one_line_brings_back(
    capsys: pytest.CaptureFixture[str],
) -> None:
    findings = [
        finding(field="answer", rubrics_off=["refusal", "citation_validity"]),
        finding(field="query", rubrics_off=["refusal"]),
        finding(field="usage", reason="hidden", share=0.004, fix="x" * 300),
    ]
    service = {
        "service": "", "instrumentor": "openai", "records": 9, "findings": findings,
        "present": {"retrieved": 1, "usage": 0.996, "answer": 0, "reranked": None},
    }  # fmt: skip
    print_doctor({"services": [service], "sources": [source()]}, as_json=False)
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "(no service.name), openai: 9 answers in 24 h"
    assert lines[1:3] == ["spans    9: retriever, llm", "from     openinference, my.scope"]
    assert lines[3:6] == ["in full  retrieved", "in part  usage 99.6 %", "never    answer"]
    assert "✗ answer, query: not sent in 100 % of answers" in lines
    assert "· usage: hidden in 0.4 % of answers" in lines
    assert "off   citation_validity, refusal" in lines
    assert "fix   " + "x" * 300 in lines  # whole, for the clipboard
    assert lines.count("fix   switch it on") == 1


def test_a_doctor_that_finds_nothing_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    whole = {"service": "desk", "instrumentor": "", "records": 1, "findings": [], "present": {}}
    print_doctor({"services": [whole], "sources": [source(service="desk")]}, as_json=False)
    assert "nothing is missing" in capsys.readouterr().out
    print_doctor({"services": [], "sources": []}, as_json=False)
    assert capsys.readouterr().out.startswith("no span in 24 h")


def test_the_doctor_lists_a_service_without_answers_with_what_is_missing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    silent = source(service="desk", missing="no span of a model", fix="instrument()")
    search = source(service="search", part_of=["desk", ""], kinds=[])
    print_doctor({"services": [], "sources": [silent, search]}, as_json=False)
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[:5] == [
        "desk: no answer in 24 h",
        "spans    9: retriever, llm",
        "from     openinference, my.scope",
        "✗ no span of a model",
        "fix   instrument()",
    ]
    assert "its spans are part of the answers of desk, (no service.name)" in lines


def source(**changes: Any) -> dict[str, Any]:
    return {
        "service": "", "spans": 9, "kinds": ["retriever", "llm"], "part_of": [], "missing": "",
        "scopes": {"openinference": 8, "my.scope": 1}, "answers": 0, "fix": "", **changes,
    }  # fmt: skip


@given(st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), max_size=30))
def test_a_sparkline_has_a_sign_a_value_and_the_highest_is_the_tallest(
    values: list[float | None],
) -> None:
    shown = sparkline(values)
    known = [value for value in values if value is not None]
    assert len(shown) == (len(values) if known else 0)
    for value, sign in zip(values, shown, strict=False):
        assert (sign == " ") == (value is None)
        if known and max(known) > min(known) and value == max(known):
            assert sign == BARS[-1]


def judged(**changes: Any) -> dict[str, Any]:
    """An entry of the API's judges."""
    return {
        "rubric": "groundedness", "judge": "openai:m", "version": "2", "state": "trusted",
        "kappa": 0.81, "low": 0.7, "high": 0.9, "agreement": 0.92, "labels": 120,
        "level": {"mean": 0.75, "low": 0.7, "high": 0.8}, "reason": "kappa 0.81",
        "quotes": 40, "quotes_not_found": 0, **changes,
    }  # fmt: skip


def test_judges_are_shown_with_figures_and_reason(capsys: pytest.CaptureFixture[str]) -> None:
    unmeasured = {
        "rubric": "completeness",
        "state": "unmeasured",
        "reason": "3 labels",
        "labels": 3,
        "quotes_not_found": 12,
    }
    nothing = dict.fromkeys(("kappa", "low", "high", "agreement", "level"))
    print_judges({"judges": [judged(), judged(**unmeasured, **nothing)]}, as_json=False)
    out = capsys.readouterr().out
    for cell in ("0.81 [0.70, 0.90]", "0.92", "120", "0.75 [0.70, 0.80]", "groundedness: kappa"):
        assert cell in out
    (line,) = [line for line in out.splitlines() if line.startswith("completeness ")]
    assert line.split()[-4:] == ["–", "–", "3", "–"]
    assert "completeness: 3 labels; 12 of 40 quotes are not in the text" in out
    assert "kappa 0.81\n" in out


def test_labels_are_shown_without_what_could_command_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    label = {
        "rubric": "refusal", "trace_id": "0" * 32, "value": None, "label": "refused",
        "labeller": "ada\x1b[2J", "comment": "", "time": "2026-03-01T06:00:00Z",
    }  # fmt: skip
    print_labels({"labels": [label]}, as_json=False)
    out = capsys.readouterr().out
    assert "ada\\x1b[2J" in out
    assert "\x1b" not in out
    assert "2026-03-01T06:00" in out


def test_no_labels_and_no_judges_say_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    print_labels({"labels": []}, as_json=False)
    print_judges({"judges": []}, as_json=False)
    out = capsys.readouterr().out
    assert "ragvigil labels import" in out
    assert "no judge has judged" in out


def test_a_trace_says_what_was_cut_that_its_clock_was_replaced_and_that_its_answer_is_empty(
    capsys: pytest.CaptureFixture[str],
) -> None:
    strange = record(answer="", truncated=["values"], clock_replaced=True,
                     time="2026-11-22T21:00:00.5Z", ended="1970-01-01T00:00:07Z")  # fmt: skip
    print_trace({"trace_id": "ab" * 16, "records": [strange]}, as_json=False)
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "answer    (no text)" in lines
    assert "cut       values" in lines
    assert (
        "clock     not believable: 1970-01-01 00:00:07; time of receipt: 2026-11-22 21:00:00"
        in lines
    )
