"""A plug-in package adds a scorer and its rubric; it replaces nothing of this package."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.distributions import install, printed_with, ran_with

SCORER = """
from ragvigil import RagRecord, Score

class Calm:
    rubric = "calm"

    def score(self, record: RagRecord) -> Score:
        return Score(rubric=self.rubric, value=0.0 if "!" in record.answer else 1.0)
"""
RUBRIC = """
name = "calm"
layer = "generation"
version = "3"
scale = "0..1"
needs = ["answer"]
fails_below = 0.5
description = "Whether the answer does without exclamation marks."
"""
LEFT_OUT = """
import json
from scorers.rubric import load_rubrics, rubrics_left_out
print(json.dumps([sorted(load_rubrics()), [str(refusal) for refusal in rubrics_left_out()]]))
"""
RUBRICS = {"ragvigil.rubrics": {"acme": "acme.rubrics"}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An environment with the package acme: a scorer and its rubric."""
    install(
        tmp_path,
        "acme-rag",
        files={
            "acme/__init__.py": "",
            "acme/calm.py": SCORER,
            "acme/rubrics/__init__.py": "",
            "acme/rubrics/calm.toml": RUBRIC,
            "acme/rubrics/notes.txt": "not a rubric",
        },
        entry_points=RUBRICS | {"ragvigil.scorers": {"calm": "acme.calm:Calm"}},
    )
    return tmp_path


def test_a_plugin_scorer_uses_its_own_rubric(folder: Path) -> None:
    lines = [{"answer": "Yes!", "chunks": []}, {"answer": "Yes.", "chunks": []}, {"chunks": []}]
    done = ran_with(
        folder, "-m", "ragvigil.app.cli.main", "score", "-", "--json",
        given="\n".join(json.dumps(line) for line in lines),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    scores = [
        next(score for score in json.loads(line)["scores"] if score["rubric"] == "calm")
        for line in done.stdout.splitlines()
    ]
    assert [score["value"] for score in scores] == [0.0, 1.0, None]
    assert [score["absent"] for score in scores] == ["", "", "answer"]
    assert {(score["layer"], score["version"], score["scorer"]) for score in scores} == {
        ("generation", "3", "Calm")
    }


def test_the_store_gets_version_and_bound_of_a_plugin_rubric(folder: Path) -> None:
    code = (
        "import json; from ragvigil.app.parts import facts;"
        "from scorers.runner import Runner, load_scorers;"
        "fact = facts(Runner(load_scorers()))['calm'];"
        "print(json.dumps([fact.version, fact.fails_below]))"
    )
    assert printed_with(folder, code) == ["3", 0.5]


def test_a_plugin_cannot_take_a_name_of_this_package(folder: Path) -> None:
    taken = RUBRIC.replace('"calm"', '"refusal"')
    (folder / "acme/rubrics/no.toml").write_text(taken, encoding="utf-8")
    names, left_out = printed_with(folder, LEFT_OUT)
    assert "calm" in names
    assert left_out == [
        "ragvigil.rubrics: acme of acme-rag is left out: "
        "acme-rag: no.toml: name: refusal is taken by ragvigil: refusal.toml"
    ]


def test_of_two_plugins_with_one_rubric_the_first_by_name_keeps_it(folder: Path) -> None:
    install(
        folder,
        "zeta",
        files={"zeta/__init__.py": "", "zeta/tone.toml": RUBRIC},
        entry_points={"ragvigil.rubrics": {"zeta": "zeta"}},
    )
    names, left_out = printed_with(folder, LEFT_OUT)
    assert names.count("calm") == 1
    assert left_out == [
        "ragvigil.rubrics: zeta of zeta is left out: "
        "zeta: tone.toml: name: calm is taken by acme-rag: calm.toml"
    ]


def test_a_wrong_file_is_left_out_and_the_others_are_loaded(folder: Path) -> None:
    wrong = RUBRIC.replace('"calm"', '"curt"') + 'colour = "red"\n'
    (folder / "acme/rubrics/curt.toml").write_text(wrong, encoding="utf-8")
    (folder / "acme/rubrics/latin.toml").write_bytes(b'name = "caf\xe9"')
    names, left_out = printed_with(folder, LEFT_OUT)
    assert "calm" in names
    assert "curt" not in names
    assert "acme-rag: curt.toml: colour: there is no such key" in left_out[0]
    assert "acme-rag: latin.toml: is not UTF-8" in left_out[1]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("acme", "BadRubric: acme holds no *.toml"),
        ("acme.nowhere", "ModuleNotFoundError: No module named 'acme.nowhere'"),
        ("acme.calm", "BadRubric: acme.calm is not a package"),
        ("acme.calm:Calm", "BadRubric: acme.calm:Calm is not a package"),
    ],
)
def test_an_entry_point_without_rubric_files_is_left_out(
    folder: Path, value: str, reason: str
) -> None:
    install(folder, "other", files={}, entry_points={"ragvigil.rubrics": {"other": value}})
    names, left_out = printed_with(folder, LEFT_OUT)
    assert "calm" in names
    assert len(left_out) == 1
    assert left_out[0].startswith(f"ragvigil.rubrics: other of other is left out: {reason}")


def test_a_zipped_package_can_have_rubrics(folder: Path, tmp_path: Path) -> None:
    import zipfile

    inside = tmp_path / "inside"
    install(
        inside,
        "zipped",
        files={"zipped/__init__.py": "", "zipped/neat.toml": RUBRIC.replace('"calm"', '"neat"')},
        entry_points={"ragvigil.rubrics": {"zipped": "zipped"}},
    )
    with zipfile.ZipFile(folder / "zipped.zip", "w") as archive:
        for path in inside.rglob("*"):
            archive.write(path, path.relative_to(inside))
    code = f"import sys; sys.path.insert(0, {str(folder / 'zipped.zip')!r})\n{LEFT_OUT}"
    names, left_out = printed_with(folder, code)
    assert {"calm", "neat"} <= set(names)
    assert left_out == []


JUDGED = (
    RUBRIC.replace("calm", "polite")
    + """
[judge]
about = "answer"
shows = ["question", "answer"]
instruction = "Is the answer polite?"
aggregation = "mean"
[[judge.grades]]
name = "polite"
means = "it is polite"
value = 1
[[judge.grades]]
name = "rude"
means = "it is rude"
value = 0
"""
)
DERIVED = (
    RUBRIC.replace("calm", "first")
    + """
derived_from = "context_relevance"
aggregation = "precision"
relevant_from = "3"
"""
)


def test_a_judged_plugin_rubric_needs_only_a_file(folder: Path) -> None:
    (folder / "acme/rubrics/polite.toml").write_text(JUDGED, encoding="utf-8")
    (folder / "acme/rubrics/first.toml").write_text(DERIVED, encoding="utf-8")
    code = """
import json
from ragvigil import RagRecord
from scorers.judge.question import ask_about
from scorers.judge.verdicts import derived_from, read_scores
from scorers.rubric import load_rubrics
rubrics = load_rubrics()
record = RagRecord(record_id="1", trace_id="1", query="Why?", answer="Go away!")
asked = ask_about(record, rubrics["polite"], delimiter="0" * 16, most_characters=9000)
form = asked[0].form
reply = form(verdicts={"answer": {"grade": "rude"}}, failure_type="none", failure_mode="")
value = read_scores(asked, [reply], judge="m")[0].value
print(json.dumps([value, [rubric.name for rubric in derived_from("context_relevance", rubrics)]]))
"""
    value, derived = printed_with(folder, code)
    assert value == 0.0
    assert "first" in derived


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("context_relevance", "citation_validity"), "citation_validity is no rubric that grades"),
        (("context_relevance", "polite"), "polite is no rubric that grades chunks"),
        (('"3"', '"4"'), "relevant_from: 4 is not one of 3, 2, 1"),
        (('"3"', '"0"'), "relevant_from: 0 is not one of 3, 2, 1"),
    ],
)
def test_a_derived_rubric_without_grades_to_read_is_left_out(
    folder: Path, change: tuple[str, str], reason: str
) -> None:
    (folder / "acme/rubrics/first.toml").write_text(DERIVED.replace(*change), encoding="utf-8")
    names, left_out = printed_with(folder, LEFT_OUT)
    assert "calm" in names
    assert "first" not in names
    assert reason in left_out[0]
    assert "acme of acme-rag" in left_out[0]
