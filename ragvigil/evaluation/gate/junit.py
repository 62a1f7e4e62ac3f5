"""A gate as JUnit XML, which CI servers show as tests. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from ragvigil.evaluation.gate.compare import Comparison, Verdict
from ragvigil.evaluation.gate.decide import FailedCase, Floor, Gate
from ragvigil.evaluation.gate.sentences import Layers, named, reasons
from ragvigil.model.figures import points, score
from ragvigil.model.text import visible

SUITE = "ragvigil gate"


def as_junit(gate: Gate, layers: Layers) -> str:
    """A test for each rubric, floor and slice, and for each must-pass case that failed.

    Worse is a failure; too few cases to say is skipped; the sentences of the verdict are the
    suite's output.
    """
    suite = ElementTree.Element("testsuite", name=SUITE)
    for test in _tests(gate):
        suite.append(test)
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    suite.set("errors", "0")
    output = ElementTree.SubElement(suite, "system-out")
    output.text = "\n".join(visible(reason) for reason in reasons(gate, layers))
    text = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _tests(gate: Gate) -> Iterator[ElementTree.Element]:
    for each in (*gate.overall, *gate.slices):
        kind = "rubric" if each.is_overall else "slice"
        yield _test(kind, named(each), each.verdict, _of(each))
    for floor in gate.floors:
        yield _test("floor", floor.rubric, floor.verdict, _of_floor(floor))
    yield from map(_must_pass, gate.must_pass)


def _test(kind: str, name: str, verdict: Verdict, text: str) -> ElementTree.Element:
    test = ElementTree.Element("testcase", classname=f"gate.{kind}", name=visible(name))
    if verdict is Verdict.WORSE:
        ElementTree.SubElement(test, "failure", message=f"{verdict.value}: {text}")
    elif verdict is Verdict.TOO_FEW:
        ElementTree.SubElement(test, "skipped", message=f"{verdict.value}: {text}")
    return test


def _must_pass(each: FailedCase) -> ElementTree.Element:
    test = ElementTree.Element("testcase", classname="gate.must_pass", name=visible(each.name))
    message = f"{each.reading.value.replace('_', ' ')}: {visible(each.why)}"
    ElementTree.SubElement(test, "failure", message=message)
    return test


def _of(each: Comparison) -> str:
    shown = each.difference
    if shown is None:
        return "no value in both runs"
    return (
        f"{score(shown.base)} to {score(shown.new)}, {points(shown.size)} points "
        f"[{points(shown.low)}, {points(shown.high)}], {points(-each.limit)} allowed, n {shown.n}"
    )


def _of_floor(each: Floor) -> str:
    return f"{score(each.mean)}, at least {score(each.floor)}, n {each.n}"
