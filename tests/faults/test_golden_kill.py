"""kill -9 while cases are committed: what was acknowledged is in the branch, no commit is half."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from clustering.golden.repository import Repository, clean_tree, locked
from ragvigil.app.process.tied import start_tied
from tests.golden_sets import git, work_tree

SEED, KILLS = 20261121, 6
WRITER = """
import sys
from pathlib import Path
from clustering.golden.repository import Repository, clean_tree, commit, locked
repo = Repository(root=Path(sys.argv[1]), file="g.jsonl", author_name="G", author_email="g@x")
for number in range(10_000):
    line = f"{sys.argv[2]} {number}"
    if sys.argv[3] == "before":
        print(line, flush=True)
    with locked(repo):
        tree = clean_tree(repo)
        commit(repo, tree, f"{tree.text}{line}\\n", f"Sign\\n\\nGolden-case: {number}\\n")
    if sys.argv[3] == "after":
        print(line, flush=True)
"""


def killed(folder: Path, acknowledges: str) -> list[str]:
    """The lines that writers acknowledged, `before` or `after` their commit, and that are lost."""
    repo = Repository(root=work_tree(folder), file="g.jsonl", author_name="G", author_email="g@x")
    chance, acknowledged = random.Random(SEED), list[str]()
    for life in range(KILLS):
        command = [sys.executable, "-c", WRITER, str(folder), f"life-{life}", acknowledges]
        with start_tied(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            acknowledged.append(writer.stdout.readline().strip())
            time.sleep(chance.random() / 2)
            writer.send_signal(signal.SIGKILL)
            acknowledged += [line.strip() for line in writer.stdout if line.endswith("\n")]
        time.sleep(0.5)  # the git that it had started ends by itself
        with locked(repo):
            lines = clean_tree(repo).text.splitlines()
        assert len(lines) == len(set(lines)) <= len(acknowledged) + life + 1
        assert git(folder, "status", "--porcelain") == ""
    assert len(acknowledged) >= KILLS
    return [line for line in acknowledged if line not in lines]


def test_what_was_acknowledged_survives_every_kill(tmp_path: Path) -> None:
    assert killed(tmp_path / "set", "after") == []


def test_acknowledging_before_the_commit_would_lose_cases(tmp_path: Path) -> None:
    assert killed(tmp_path / "set", "before") != []
