"""What the core ended in is remembered; only what was alone in work again is quarantined."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragvigil.app.process.suspects import MOST, NAME, CoreEnd, Suspects

GUILTY, INNOCENT = "trace a", "trace b"


@pytest.mark.parametrize(
    ("end", "ends"),
    [(CoreEnd.STALLED, 2), (CoreEnd.CRASHED, 2), (CoreEnd.KILLED, 4)],
)
def test_so_many_ends_quarantine_what_was_in_work(tmp_path: Path, end: CoreEnd, ends: int) -> None:
    for _ in range(ends - 1):
        assert Suspects(tmp_path).blame([GUILTY], end) == []
    assert Suspects(tmp_path).blame([GUILTY], end) == [GUILTY]
    assert Suspects(tmp_path).is_quarantined(GUILTY)
    assert Suspects(tmp_path).blame([GUILTY], end) == []


def test_an_end_in_order_blames_nothing(tmp_path: Path) -> None:
    suspects = Suspects(tmp_path)
    for _ in range(10):
        assert suspects.blame([GUILTY], CoreEnd.ASKED) == []
    assert not suspects.is_suspect(GUILTY)


def test_of_several_in_work_none_is_quarantined_however_often(tmp_path: Path) -> None:
    suspects = Suspects(tmp_path)
    for _ in range(10):
        assert suspects.blame([GUILTY, INNOCENT], CoreEnd.STALLED) == []
    assert suspects.is_suspect(INNOCENT)
    assert suspects.blame([GUILTY], CoreEnd.STALLED) == [GUILTY]
    assert not suspects.is_quarantined(INNOCENT)


def test_what_the_core_got_through_is_forgiven_unless_it_is_quarantined(tmp_path: Path) -> None:
    intake, other = Suspects(tmp_path), "trace c"
    for _ in range(2):
        intake.blame([GUILTY], CoreEnd.STALLED)
    for _ in range(3):
        intake.blame([INNOCENT], CoreEnd.KILLED)
    intake.blame([other], CoreEnd.KILLED)
    core = Suspects(tmp_path)
    core.forgive([GUILTY, INNOCENT, "trace of nobody"])
    assert not core.is_suspect(INNOCENT)
    assert intake.blame([INNOCENT], CoreEnd.KILLED) == []
    again = Suspects(tmp_path)
    assert again.is_quarantined(GUILTY)
    assert again.is_suspect(other)


def test_the_oldest_suspects_are_forgotten_before_anything_quarantined(tmp_path: Path) -> None:
    suspects = Suspects(tmp_path)
    for _ in range(2):
        suspects.blame([GUILTY], CoreEnd.CRASHED)
    suspects.blame([INNOCENT], CoreEnd.KILLED)
    suspects.blame([f"frame {number}" for number in range(MOST)], CoreEnd.KILLED)
    again = Suspects(tmp_path)
    assert again.is_quarantined(GUILTY)
    assert not again.is_suspect(INNOCENT)
    assert again.is_suspect(f"frame {MOST - 1}")


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "7", '{"trace a": 1}', '{"trace a": {"points": 4}}']
)
def test_a_damaged_file_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / NAME).write_text(content)
    suspects = Suspects(tmp_path)
    assert not suspects.is_suspect(GUILTY)
    suspects.blame([GUILTY], CoreEnd.KILLED)
    assert json.loads((tmp_path / NAME).read_text()) == {GUILTY: {"points": 1, "reason": "killed"}}
