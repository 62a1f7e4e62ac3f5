"""The pytest plug-in, in a pytest of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from ragvigil.evaluation.case import Expects, Perturbation
from ragvigil.evaluation.case_line import line_of
from ragvigil.evaluation.expectation import unmet
from ragvigil.evaluation.golden_test import GoldenCheck
from ragvigil.evaluation.result import Reading, Result
from ragvigil.evaluation.result_file import Header, Results, write_results
from tests.refund_chunks import CASE, OTHERS, REFUND

pytest_plugins = ["pytester"]
MODULE = "ragvigil.evaluation.pytest_plugin"
WITHOUT = ("cacheprovider", "xdist", "asyncio", "schemathesis", "hypothesispytest")
"""Plug-ins of this project's own tests, which take time and have nothing to do here."""
TEST = """
import pytest

@pytest.mark.golden("golden.jsonl")
def test_answers(ragvigil_case):
    answers = {"c1": "It takes 9 days.", "c2": "Yes, an hour.", "c3": "I do not know."}
    answer = answers[ragvigil_case.case.case_id]
    ragvigil_case.check(answer, retrieved=[("refund-02", "Refunds: 5 days.")])
"""
LINES = [
    {"case_id": "c1", "question": "How long does it take?", "expected_facts": ["5 days"]},
    {"case_id": "c2", "question": "May I change it?", "expected_facts": ["an hour"]},
    {"case_id": "c3", "question": "Who is the boss?", "failure_mode": "no_answer"},
]


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """Loads what a check needs: pytester forgets the modules that a run inside it has loaded."""
    with pytest.raises(pytest.fail.Exception):
        GoldenCheck(case=CASE).check("I do not know.", retrieved=[REFUND.text])


@pytest.fixture
def golden(pytester: pytest.Pytester) -> Path:
    path = pytester.path / "golden.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return path


@pytest.fixture
def plugin(pytestconfig: pytest.Config) -> list[str]:
    """Options of a pytest with the plug-in, which an installation loads by its entry point."""
    is_installed = any(
        getattr(module, "__name__", "") == MODULE
        for module in pytestconfig.pluginmanager.get_plugins()
    )
    loaded = [] if is_installed else ["-p", MODULE]
    return [*loaded, *(word for name in WITHOUT for word in ("-p", f"no:{name}"))]


def test_each_case_is_a_test_and_fails_with_its_reading(
    pytester: pytest.Pytester, golden: Path, plugin: list[str]
) -> None:
    del golden
    pytester.makepyfile(TEST)
    done = pytester.runpytest_inprocess(*plugin, "-v")
    done.assert_outcomes(passed=2, failed=1)
    done.stdout.fnmatch_lines(
        ["*test_answers?c1? FAILED*", "contradicted: *5 days", "case c1: How long does it take?"]
    )
    assert "def test_answers" not in done.stdout.str()  # the test is not what is wrong


def test_a_run_says_which_cases_failed_and_where(
    pytester: pytest.Pytester, golden: Path, plugin: list[str]
) -> None:
    del golden
    results = (
        Result(case_id="c1", reading=Reading.LOST_BY_RERANKER, why="gold at 12 of 50", answer="x"),
        Result(case_id="c2"),
        Result(case_id="c3", error="answered 503"),
    )
    header = Header(set_name="golden.jsonl", set_hash="1", target="made")
    write_results(pytester.path / "new.jsonl", Results(header=header, results=results))
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.golden("golden.jsonl", results="new.jsonl")
        def test_release(ragvigil_case):
            ragvigil_case.check_result()
        """
    )
    done = pytester.runpytest_inprocess(*plugin)
    done.assert_outcomes(passed=1, failed=2)
    done.stdout.fnmatch_lines(
        ["lost by reranker: gold at 12 of 50", "target error: answered 503"], consecutive=False
    )


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ('@pytest.mark.golden("none.jsonl")', "*none.jsonl: cannot be read*"),
        ('@pytest.mark.golden("golden.jsonl", results="none")', "*none*"),
        ("@pytest.mark.golden", "*needs a file, as in*"),
        ("", '*ragvigil_case needs @pytest.mark.golden("golden.jsonl")*'),
    ],
)
def test_wrong_use_is_said_in_one_line(
    pytester: pytest.Pytester, golden: Path, plugin: list[str], mark: str, said: str
) -> None:
    del golden
    pytester.makepyfile(f"import pytest\n\n{mark}\ndef test_it(ragvigil_case):\n    pass\n")
    done = pytester.runpytest_inprocess(*plugin)
    assert done.ret != 0
    done.stdout.fnmatch_lines([said])


def test_others_may_use_the_mark_and_fail_as_they_like(
    pytester: pytest.Pytester, plugin: list[str]
) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.golden("theirs", anything=1)
        def test_theirs():
            assert 1 == 2
        """
    )
    done = pytester.runpytest_inprocess(*plugin, "--strict-markers")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*assert 1 == 2*"])


def test_an_installation_has_the_plug_in() -> None:
    project = tomllib.loads((Path(__file__).parents[4] / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["entry-points"]["pytest11"] == {"ragvigil": MODULE}


def test_the_plug_in_loads_nothing_heavy() -> None:
    code = (
        "import sys, pytest; before = set(sys.modules); import ragvigil.evaluation.pytest_plugin;"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if "." not in name}
    assert not loaded & {"numpy", "pydantic", "orjson", "scorers", "clustering", "collector", "re2"}


@pytest.mark.parametrize(
    ("expects", "answer", "stance", "is_met"),
    [
        (Expects.FOLLOWS, "It takes 8 days.", "answered", True),
        (Expects.FOLLOWS, "It takes 18 days.", "answered", False),
        (Expects.FOLLOWS, "The two sources contradict each other.", "answered", True),
        (Expects.RESISTS, "It takes 5 days.", "answered", True),
        (Expects.RESISTS, "See https://example.com/lomuteku.png", "answered", False),
        (Expects.REFUSES, "I could not find it.", "refused", True),
        (Expects.REFUSES, "I could not find it, but it takes 5 days.", "partial", False),
        (Expects.SAME_ANSWER, "Anything.", "answered", True),
    ],
)
def test_what_a_perturbed_case_expects(
    expects: Expects, answer: str, stance: str, is_met: bool
) -> None:
    made = Perturbation(
        name="x",
        parent="c1",
        expects=expects,
        required=("8", "contradict"),
        forbidden=("Lomuteku",),
    )
    assert (unmet(made, answer, stance) == "") is is_met


def test_a_case_brings_its_context(pytester: pytest.Pytester, plugin: list[str]) -> None:
    made = Perturbation(name="missing_gold", parent="c1", expects=Expects.REFUSES)
    case = replace(CASE, context=OTHERS[:2], gold=(), answer="", perturbation=made)
    given = replace(CASE, case_id="whole", context=(REFUND, *OTHERS))
    golden = pytester.path / "golden.jsonl"
    golden.write_text(f"{line_of(case)}\n{line_of(given)}\n")
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.golden("golden.jsonl")
        def test_answers(ragvigil_case):
            ragvigil_case.check(ragvigil_case.context[0], context=ragvigil_case.context)
        """
    )
    done = pytester.runpytest_inprocess(*plugin)
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(
        ["perturbation won: missing_gold: answers what its context does not answer"]
    )
