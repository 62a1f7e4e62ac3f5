"""A plug-in of others that cannot be used is left out and named; one of the house raises."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.distributions import install, printed_with, ran_with

BROKEN = {
    "acme/__init__.py": "",
    "acme/absent.py": "import a_library_that_nobody_has\n",
    "acme/ends.py": "raise SystemExit('no licence')\n",
    "acme/raises.py": "raise ValueError('two\\nlines')\n",
    "acme/empty.py": "",
    "acme/scorers.py": (
        "class NoRubric:\n    rubric = 'nobody_wrote_it'\n    def score(self, record): ...\n"
        "class NoScore:\n    rubric = 'refusal'\n"
        "class Needs:\n    rubric = 'refusal'\n    def __init__(self, model): ...\n"
    ),
    "acme/spans.py": "ROOTS = 'acme'\ndef claims(span): return ()\n",
}
LEFT_OUT = """
import json
from ragvigil.app.plugins import left_out
print(json.dumps([str(plugin) for plugin in left_out()]))
"""


@pytest.mark.parametrize(
    ("group", "value", "reason"),
    [
        ("scorers", "acme.absent:Tone", "ModuleNotFoundError: No module named 'a_library_that"),
        ("scorers", "acme.ends:Tone", "SystemExit: no licence"),
        ("scorers", "acme.raises:Tone", "ValueError: two lines"),
        ("scorers", "acme.empty:Tone", "AttributeError: module 'acme.empty' has no attribute"),
        ("scorers", "acme.scorers:Needs", "TypeError: "),
        (
            "scorers",
            "acme.scorers:NoScore",
            "NotAScorer: acme.scorers:NoScore has no method score",
        ),
        (
            "scorers",
            "acme.scorers:NoRubric",
            "NotAScorer: acme.scorers:NoRubric is for rubric 'nobody_wrote_it', and no",
        ),
        ("conventions", "acme.absent", "ModuleNotFoundError: No module named 'a_library_that"),
        ("conventions", "acme.empty", "NotAConvention: acme.empty has no function claims"),
        ("conventions", "acme.spans", "NotAConvention: acme.spans: ROOTS is not a set of names"),
        ("rubrics", "acme.raises", "ValueError: two lines"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_reason(
    tmp_path: Path, group: str, value: str, reason: str
) -> None:
    group = f"ragvigil.{group}"
    install(tmp_path, "acme-rag", files=BROKEN, entry_points={group: {"tone": value}})
    (line,) = printed_with(tmp_path, LEFT_OUT)
    assert line.startswith(f"{group}: tone of acme-rag is left out: {reason}")
    assert len(line.splitlines()) == 1


def test_a_convention_under_a_name_of_ours_is_left_out(tmp_path: Path) -> None:
    point = {"ragvigil.conventions": {"openinference": "acme.empty"}}
    install(tmp_path, "acme-rag", files=BROKEN, entry_points=point)
    (line,) = printed_with(tmp_path, LEFT_OUT)
    assert line.endswith("NotAConvention: the name openinference is taken by ragvigil")


def test_a_convention_of_others_reads_spans_beside_one_that_does_not_load(tmp_path: Path) -> None:
    reading = (
        "from collector.claims.claim import Claim, Field\nROOTS = {'acme'}\n"
        "def claims(span):\n    yield Claim(Field.ROUTE, span.attributes.get('acme.route'))\n"
    )
    install(
        tmp_path,
        "acme-rag",
        files=BROKEN | {"acme/spans.py": reading},
        entry_points={"ragvigil.conventions": {"acme": "acme.spans", "gone": "acme.absent"}},
    )
    code = (
        "import json; from collector.claims.registry import registered;"
        "print(json.dumps({item.name: sorted(item.roots) for item in registered()}))"
    )
    conventions = printed_with(tmp_path, code)
    assert conventions["acme"] == ["acme"]
    assert "openinference" in conventions
    assert "gone" not in conventions


@pytest.mark.parametrize(
    ("group", "module", "find"),
    [
        ("ragvigil.scorers", "scorers", "find_scorers"),
        ("ragvigil.conventions", "collector.claims", "registered"),
    ],
)
def test_a_plug_in_of_the_house_that_does_not_load_raises(
    tmp_path: Path, group: str, module: str, find: str
) -> None:
    point = {group: {"gone": f"{module}.gone:Gone"}}
    install(tmp_path, "Ragvigil", files={}, entry_points=point)
    done = ran_with(tmp_path, "-c", f"from {module}.registry import {find}; {find}()")
    assert done.returncode == 1
    assert f"No module named '{module}.gone'" in done.stderr


def test_check_warns_of_what_is_left_out_and_loads_none_of_ours(tmp_path: Path) -> None:
    point = {"ragvigil.scorers": {"tone": "acme.absent:Tone"}}
    install(tmp_path, "acme-rag", files=BROKEN, entry_points=point)
    done = ran_with(tmp_path, "-m", "ragvigil.app.cli.main", "check", "--json")
    assert done.returncode == 0, done.stderr
    (warning,) = json.loads(done.stdout)["warnings"]
    assert warning["key"] == "ragvigil.scorers tone of acme-rag"
    assert "the daemon runs without it: ModuleNotFoundError" in warning["explanation"]
    output = ran_with(tmp_path, "-m", "ragvigil.app.cli.main", "check").stdout
    assert "\nwarning: ragvigil.scorers tone of acme-rag: this plug-in cannot be" in output
    loaded = printed_with(
        tmp_path,
        "import json, sys; from ragvigil.app.plugins import left_out; left_out();"
        "print(json.dumps([name for name in sys.modules if name.startswith('scorers.')]))",
    )
    assert "scorers.refusal" not in loaded


def test_each_is_logged_on_one_line_and_counted_by_group_and_name(tmp_path: Path) -> None:
    points = {
        "ragvigil.scorers": {"tone": "acme.absent:Tone"},
        "ragvigil.conventions": {"acme": "acme.raises"},
    }
    install(tmp_path, "acme-rag", files=BROKEN, entry_points=points)
    code = (
        "import json; from prometheus_client import REGISTRY; from ragvigil.app import plugins;"
        "from ragvigil.app.process.logs import configure_logs;"
        "configure_logs(); plugins.announce();"
        "print(json.dumps([REGISTRY.get_sample_value('ragvigil_plugin_failures_total',"
        " {'group': f'ragvigil.{group}', 'name': name})"
        " for group, name in (('scorers', 'tone'), ('conventions', 'acme'))]))"
    )
    assert printed_with(tmp_path, code) == [1.0, 1.0]
    lines = ran_with(tmp_path, "-c", code).stderr.splitlines()
    assert len(lines) == 2
    assert "group=ragvigil.scorers name=tone distribution=acme-rag" in lines[0]
    assert 'reason="ValueError: two lines"' in lines[1]


def test_a_rubric_of_others_may_be_named_in_the_settings(tmp_path: Path) -> None:
    rubric = (
        'name = "calm"\nlayer = "generation"\nversion = "1"\nscale = "0..1"\nneeds = ["answer"]\n'
        'description = "Whether the answer is calm."\n'
    )
    install(
        tmp_path,
        "acme-rag",
        files={"acme/__init__.py": "", "acme/calm.toml": rubric},
        entry_points={"ragvigil.rubrics": {"acme": "acme"}},
    )
    (tmp_path / "own.toml").write_text('[scorers]\ndisabled = ["calm", "loud"]\n', encoding="utf-8")
    done = ran_with(tmp_path, "-m", "ragvigil.app.cli.main", "check", "-c", "own.toml")
    assert done.returncode == 0, done.stderr
    assert "\nwarning: [scorers] disabled: loud is not one of" in done.stdout
    assert "calm is not" not in done.stdout
