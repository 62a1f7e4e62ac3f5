"""pytest plug-in: each case of a golden set is a test.

    @pytest.mark.golden("golden.jsonl")
    def test_the_service_answers(ragvigil_case):
        reply = my_service.ask(ragvigil_case.question)
        ragvigil_case.check(reply.text, retrieved=[(c.id, c.text) for c in reply.chunks])

It is loaded by every pytest in its environment, so it imports nothing of its own until a test asks
for the fixture, and registers one mark.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ragvigil.evaluation.golden_test import GoldenCheck

FIXTURE, MARK = "ragvigil_case", "golden"


def pytest_configure(config: pytest.Config) -> None:
    """Registers the mark."""
    config.addinivalue_line(
        "markers",
        f"{MARK}(set, results=None): a test for each case of a golden set, where it asks for the "
        f"fixture {FIXTURE}; paths are relative to the test's file",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Makes a test of each case where a test asks for the fixture; changes no other test."""
    mark = metafunc.definition.get_closest_marker(MARK)
    if FIXTURE not in metafunc.fixturenames or mark is None:
        return
    from ragvigil.evaluation.case_set import BadSet
    from ragvigil.evaluation.golden_test import checks
    from ragvigil.evaluation.result_file import BadResults

    folder = metafunc.definition.path.parent
    run = mark.kwargs.get("results")
    if len(mark.args) != 1 or mark.kwargs.keys() - {"results"}:
        pytest.fail(f'@pytest.mark.{MARK} needs a file, as in ("golden.jsonl")', pytrace=False)
    try:
        cases = checks(folder / Path(mark.args[0]), None if run is None else folder / Path(run))
    except (BadSet, BadResults, OSError) as error:
        pytest.fail(str(error), pytrace=False)
    names = [check.case.case_id for check in cases]
    metafunc.parametrize(FIXTURE, cases, ids=names, indirect=True)


@pytest.fixture
def ragvigil_case(request: pytest.FixtureRequest) -> GoldenCheck:
    """One case of the set that the test's mark `golden` names: its question, and its check."""
    if not hasattr(request, "param"):
        pytest.fail(f'{FIXTURE} needs @pytest.mark.{MARK}("golden.jsonl")', pytrace=False)
    case: GoldenCheck = request.param
    return case
