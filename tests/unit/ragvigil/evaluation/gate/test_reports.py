"""A gate for people and for CI servers: Markdown, JUnit XML, JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree

from ragvigil.evaluation.gate.decide import Gate
from ragvigil.evaluation.gate.document import as_document
from ragvigil.evaluation.gate.junit import as_junit
from ragvigil.evaluation.gate.markdown import as_markdown
from ragvigil.evaluation.result import Reading
from ragvigil.model.score import Layer
from tests.paired_results import gate, results

LAYERS = {"groundedness": Layer.GENERATION}
HOSTILE = "]( https://evil.example ) @everyone #12 | <img src=x>\x1b[2J\x00 **b** www.evil.example"


def failing(why: str = "not in 50") -> Gate:
    new = [
        replace(row, reading=Reading.NOT_RETRIEVED, why=why, must_pass=place == 0)
        if place < 12
        else row
        for place, row in enumerate(results([0.0] * 12 + [1.0] * 108))
    ]
    return gate(results([1.0] * 120), new)


def test_markdown_says_the_verdict_the_reasons_the_table_and_the_cases() -> None:
    text = as_markdown(failing(), LAYERS)
    assert text.startswith("### ❌ ragvigil gate: worse (120 cases)\n")
    assert "- 1 must-pass case failed: case-0\n" in text
    assert (
        "| groundedness | generation | 1.00 | 0.90 | −10 | −15 to −6 | −5 | 120 | **worse** |"
        in text
    )
    assert "12 cases fail now and did not; 0 the opposite: 12 not retrieved (retrieval)" in text
    assert "- case-0, **must pass**, not retrieved (retrieval): not in 50" in text
    assert "equivalence" in text  # was not measured


def test_what_others_wrote_is_no_markup_in_a_comment() -> None:
    line = next(line for line in as_markdown(failing(HOSTILE), {}).split("\n") if "evil" in line)
    written = line.partition("not retrieved (retrieval): ")[2]
    for active in ("https://", "@everyone", "#12", "\x1b", "**", "www.evil"):
        assert active not in written, active
    for sign in "]|<>*":
        assert written.count(sign) == written.count(f"\\{sign}"), sign


def test_junit_can_be_read_and_counts_right() -> None:
    suite = ElementTree.fromstring(as_junit(failing(HOSTILE), LAYERS))
    tests = suite.findall("testcase")
    failures = suite.findall("testcase/failure")
    assert (suite.get("tests"), suite.get("failures")) == (str(len(tests)), str(len(failures)))
    assert {each.get("name") for each in tests if each.find("failure") is not None} == {
        "groundedness",
        "case-0",
    }


def test_the_document_is_json_and_has_every_comparison() -> None:
    shown = failing()
    document = json.loads(json.dumps(as_document(shown, LAYERS), allow_nan=False))
    assert document["state"] == "worse"
    assert len(document["overall"]) == len(shown.overall)
    assert document["must_pass_failed"][0]["reading"] == "not_retrieved"


def test_a_comparison_without_values_can_be_shown_everywhere() -> None:
    shown = gate(results([1.0] * 120), results([None] * 120))
    assert "no value" in as_markdown(shown, {})
    assert "no value in both runs" in as_junit(shown, {})
    assert json.dumps(as_document(shown, {}), allow_nan=False)
