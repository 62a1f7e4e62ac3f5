"""`ragvigil help TOPIC` and the completion of shells: both come from the code."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from collector.backfill.sources import FORMATS
from ragvigil.app.cli.help_topics import TOPICS, find
from ragvigil.app.cli.input.record_line import OTHER_NAMES, RECORD_KEYS, record_of
from ragvigil.app.cli.main import app
from ragvigil.web.views.posts import LabelPost
from scorers.rubric import load_rubrics
from tests.house.reference import PAGES

RAGVIGIL = Path(sys.executable).with_name("ragvigil")


def asked(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["help", *words])
    return done.exit_code, done.output


class Asked(dict[str, Any]):
    """A row that remembers which of its keys were read."""

    def __init__(self, row: dict[str, Any]) -> None:
        super().__init__(row)
        self.keys_read: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        self.keys_read.add(key)
        return super().get(key, default)


def test_help_alone_lists_the_topics() -> None:
    code, text = asked()
    assert code == 0
    assert all(f"  {topic.name} " in text for topic in TOPICS)


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_a_topic_is_found_by_its_words_and_is_what_the_reference_says(topic: Any) -> None:
    code, text = asked(*topic.name.split("-"))
    assert (code, text) == (0, f"{topic.text()}\n")
    assert len(text) > 100
    if topic.name not in ("metrics", "settings"):
        assert topic.text() in PAGES["topics"]()


@pytest.mark.parametrize("words", [["record", "file"], ["Record_File"], ["record file format"]])
def test_the_beginning_of_a_topic_is_enough(words: list[str]) -> None:
    topic = find(words)
    assert topic is not None
    assert topic.name == "record-file-format"


def test_a_command_is_explained_too() -> None:
    code, text = asked("issues", "show")
    assert code == 0
    assert text.startswith("Usage: ragvigil issues show ")
    assert asked("import")[1].startswith("Usage: ragvigil import ")
    assert asked("import", "formats")[1].startswith("`ragvigil import FORMAT SOURCE` reads")


@pytest.mark.parametrize("words", [["nothing"], ["issues", "nothing"], ["re"]])
def test_what_is_neither_topic_nor_command_is_one_sentence(words: list[str]) -> None:
    code, text = asked(*words)
    assert code == 2
    assert f"{' '.join(words)} is neither a topic nor a command" in text


def test_the_record_file_format_names_exactly_the_keys_that_are_read() -> None:
    row = Asked({})
    record_of(row, 1)
    assert row.keys_read == {*RECORD_KEYS, *OTHER_NAMES}
    text = asked("record", "file")[1]
    assert all(f"`{key}`" in text for key in row.keys_read)


def test_files_of_labels_and_imports_are_described_whole() -> None:
    assert all(f"`{key}`" in asked("label", "file")[1] for key in LabelPost.model_fields)
    assert all(f"`{name}`" in asked("import", "formats")[1] for name in FORMATS)


def test_metrics_and_settings_are_those_of_the_reference() -> None:
    for name in ("metrics", "settings"):
        rows = [line for line in PAGES[name]().splitlines() if line.startswith("| `")]
        text = asked(name)[1]
        assert rows
        assert all(f"`{row.split('`')[1]}`" in text for row in rows)


COMPLETED = [
    ("import phoe", ["phoenix_export"]),
    ("deltas --rubric citation_", sorted(n for n in load_rubrics() if n.startswith("citation_"))),
    ("help exit", ["exit-codes"]),
    ("issues list --state re", ["resolved", "regressed"]),
    ("golden export --format c", ["csv"]),
    ("incidents sn", ["snooze"]),
]


@pytest.mark.parametrize(("typed", "completions"), COMPLETED)
@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_values_are_completed(shell: str, typed: str, completions: list[str]) -> None:
    environment = {
        "_RAGVIGIL_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": f"ragvigil {typed}",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    done = CliRunner().invoke(app, [], prog_name="ragvigil", env=environment)
    shown = done.output.replace('"', " ").replace("\t", " ").split()
    assert [word for word in shown if word in completions] == completions, done.output


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_with_the_script_that_is_installed() -> None:
    typed, (completion, *_) = COMPLETED[0]
    words = f"ragvigil {typed}"
    script = (
        'eval "$(_RAGVIGIL_COMPLETE=source_bash ragvigil)"; '
        f"COMP_WORDS=({words}); COMP_CWORD=2; _ragvigil_completion ragvigil; echo ${{COMPREPLY[*]}}"
    )
    path = f"{RAGVIGIL.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, env={**os.environ, "PATH": path}
    )
    assert done.stdout.strip() == completion, done.stderr
