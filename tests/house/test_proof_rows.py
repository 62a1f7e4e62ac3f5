"""Every row of the proof names a benchmark or tests that exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.rig.proof_rows import ROWS, Row

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_what_a_row_runs_is_there(row: Row) -> None:
    paths = [part for part in (*row.small, *row.full) if "/" in part]
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []
