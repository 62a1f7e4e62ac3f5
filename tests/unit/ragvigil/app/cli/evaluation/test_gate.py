"""`ragvigil gate`: exit statuses, refusals, files."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from ragvigil.app.cli.help_topics import EXIT_CODES
from ragvigil.app.cli.main import app
from ragvigil.evaluation.result import Reading
from ragvigil.evaluation.result_file import Results, write_results
from tests.deploy_files import DEPLOY
from tests.golden_sets import git, work_tree
from tests.paired_results import HEADER, results


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["gate", *map(str, arguments)])


def written(path: Path, values: Sequence[float | None]) -> Path:
    write_results(path, Results(header=HEADER, results=tuple(results(values))))
    return path


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return written(tmp_path / "base.jsonl", [1.0] * 120)


@pytest.mark.parametrize(
    ("values", "status", "title"),
    [
        ([1.0] * 120, 0, "nothing is worse"),
        ([0.0] * 12 + [1.0] * 108, 1, "worse"),
        ([1.0] * 20, 3, "too few cases to say"),
    ],
)
def test_the_exit_status_says_the_verdict(
    base: Path, tmp_path: Path, values: list[float], status: int, title: str
) -> None:
    done = run(base, written(tmp_path / "new.jsonl", values))
    assert (done.exit_code, done.exit_code in EXIT_CODES) == (status, True)
    assert done.output.startswith(f"ragvigil gate: {title}")


def test_too_few_may_pass_and_worse_may_not(base: Path, tmp_path: Path) -> None:
    few = written(tmp_path / "few.jsonl", [1.0] * 20)
    worse = written(tmp_path / "worse.jsonl", [0.0] * 120)
    assert run(base, few, "--cannot-say-passes").exit_code == 0
    assert run(base, worse, "--cannot-say-passes").exit_code == 1


def test_options_are_over_the_settings_and_these_over_the_defaults(
    base: Path, tmp_path: Path
) -> None:
    new = written(tmp_path / "new.jsonl", [0.0] * 12 + [1.0] * 108)
    config = tmp_path / "ragvigil.toml"
    config.write_text("[gate]\nlimits = { groundedness = 0.2 }\n")
    assert run(base, new, "--config", config).exit_code == 0
    assert run(base, new, "--config", config, "--limit", "groundedness=0.05").exit_code == 1
    lenient = run(base, new, "--limit", "groundedness=0.2", "--floor", "groundedness=0.99")
    assert lenient.exit_code == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--limit", "groundednes=0.1"), "groundednes is not one of answered, groundedness"),
        (("--limit", "groundedness"), "is not RUBRIC=NUMBER"),
        (("--floor", "groundedness=85"), "over 0 and at most 1"),
    ],
)
def test_wrong_options_are_named(base: Path, options: tuple[str, str], said: str) -> None:
    done = run(base, base, *options)
    assert done.exit_code == 2
    assert said in re.sub(r"\s+", " ", done.output)


def test_the_share_that_passes_can_have_a_limit_and_a_floor(base: Path) -> None:
    done = run(base, base, "--limit", "groundedness:passed=0.05", "--json")
    assert done.exit_code == 0, done.output
    limits = {each["rubric"]: each["limit"] for each in json.loads(done.stdout)["overall"]}
    assert limits["groundedness:passed"] == 0.05
    assert run(base, base, "--floor", "groundedness:passed=0.9").exit_code == 0


@pytest.mark.parametrize("text", ["", "not json\n", '{"ragvigil_results": 99}\n'])
def test_a_file_that_is_no_result_is_refused_in_one_line(
    base: Path, tmp_path: Path, text: str
) -> None:
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text(text)
    done = run(base, wrong)
    assert done.exit_code == 2
    assert done.output.count("\n") == 1
    assert str(wrong) in done.output


def test_a_missing_file_and_one_that_cannot_be_written_are_refused(
    base: Path, tmp_path: Path
) -> None:
    assert run(base, tmp_path / "none.jsonl").exit_code == 2
    assert run(base, base, "--markdown", tmp_path / "no folder" / "x.md").exit_code == 2


def test_files_for_people_and_servers_are_written(base: Path, tmp_path: Path) -> None:
    markdown, junit = tmp_path / "gate.md", tmp_path / "gate.xml"
    done = run(base, base, "--markdown", markdown, "--junit", junit, "--json")
    assert json.loads(done.output)["state"] == "pass"
    assert markdown.read_text().startswith("### ✅ ragvigil gate")
    assert ElementTree.parse(junit).getroot().get("failures") == "0"


@pytest.mark.parametrize("path", sorted((DEPLOY / "ci").iterdir()), ids=lambda path: path.name)
def test_the_examples_call_the_gate_with_options_that_it_has(path: Path) -> None:
    calls = re.findall(r"ragvigil gate .*", path.read_text())
    options = set(re.findall(r"--[a-z-]+", " ".join(calls)))
    assert options
    assert options <= set(re.findall(r"--[a-z-]+", run("--help").output))


def of_issue(path: Path, *, fails: bool) -> Path:
    """A run of which two cases were made of issue 3f2a…; one of them may fail."""
    rows = results([1.0] * 120)
    made = [replace(row, issue_id="3f2a" + "0" * 12) for row in rows[:2]]
    if fails:
        made[0] = replace(made[0], reading=Reading.NOT_USED)
    write_results(path, Results(header=HEADER, results=(*made, *rows[2:])))
    return path


def test_what_a_commit_says_it_fixes_must_pass(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = work_tree(tmp_path / "service")
    message = "Refunds are found again\n\nRagvigil-Fixes: 3f2a\n"
    git(repository, "commit", "-q", "--allow-empty", "-m", message)
    monkeypatch.chdir(repository)
    mended = of_issue(tmp_path / "mended.jsonl", fails=False)
    done = run(base, mended, "--commits", "HEAD~1..HEAD")
    assert (done.exit_code, "issue 3f2a: 2 cases of it pass" in done.output) == (0, True)
    broken = of_issue(tmp_path / "broken.jsonl", fails=True)
    done = run(base, broken, "--commits", "HEAD~1..HEAD")
    assert done.exit_code == 1
    said = "A commit says that it fixes issue 3f2a, and 1 case of it fails: case-0"
    assert said in " ".join(done.output.split())
    assert run(base, broken).exit_code == 0
    done = run(base, mended, "--fixes", "beef")
    assert "`ragvigil evaluate --issue beef` asks its own questions" in " ".join(
        done.output.split()
    )
    assert run(base, mended, "--commits", "nothing..HEAD").exit_code == 2
    assert run(base, mended, "--fixes", "no id").exit_code == 2
