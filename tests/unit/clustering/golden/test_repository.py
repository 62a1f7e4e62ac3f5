"""The set's file in real git repositories: one commit for each case, nothing else touched."""

from __future__ import annotations

import os
import stat
import subprocess
import threading
from pathlib import Path

import pytest

from clustering.golden import repository as module
from clustering.golden.git import RepositoryRefuses
from clustering.golden.repository import (
    Repository,
    clean_tree,
    commit,
    commit_of,
    locked,
    repository,
)
from clustering.golden.settings import GoldenSettings


def git(folder: Path, *arguments: str) -> str:
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    names = ("-c", "user.name=Zoe", "-c", "user.email=zoe@example.org")
    process = subprocess.run(
        ["git", *names, *arguments], cwd=folder, check=True, capture_output=True, env=env
    )
    return process.stdout.decode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "set"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "README.md").write_text("hello\n")
    git(root, "add", "README.md")
    git(root, "commit", "-qm", "First")
    return root


@pytest.fixture
def repo(folder: Path) -> Repository:
    return Repository(
        root=folder, file="cases/golden.jsonl", author_name="Golden", author_email="g@example.org"
    )


def add(repo: Repository, line: str, message: str = "Sign\n\nGolden-case: c1\nContent-hash: aa\n"):  # type: ignore[no-untyped-def]
    with locked(repo):
        tree = clean_tree(repo)
        return commit(repo, tree, f"{tree.text}{line}\n", message)


def status(folder: Path) -> str:
    return git(folder, "status", "--porcelain")


def test_a_case_is_one_commit_by_the_configured_author(repo: Repository, folder: Path) -> None:
    commit_id = add(repo, "one")
    assert repo.path.read_text() == "one\n"
    assert git(folder, "rev-parse", "HEAD").strip() == commit_id
    shown = git(folder, "show", "--format=%an|%ae|%cn|%B", "--name-only", "HEAD")
    assert shown.startswith("Golden|g@example.org|Golden|Sign")
    assert shown.strip().splitlines()[-1] == "cases/golden.jsonl"
    assert git(folder, "rev-list", "--count", "HEAD").strip() == "2"
    assert status(folder) == ""
    assert commit_of(repo, "c1", "aa") == commit_id
    assert commit_of(repo, "c1", "bb") == ""


def test_other_work_in_the_tree_stays_as_it_is(repo: Repository, folder: Path) -> None:
    (folder / "README.md").write_text("changed\n")
    (folder / "new.txt").write_text("untracked\n")
    (folder / "staged.txt").write_text("staged\n")
    git(folder, "add", "staged.txt")
    before = status(folder)
    add(repo, "one")
    assert status(folder) == before
    assert git(folder, "ls-tree", "-r", "--name-only", "HEAD").split() == [
        "README.md",
        "cases/golden.jsonl",
    ]


def test_a_repository_without_a_commit_takes_its_first(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    empty = Repository(root=tmp_path, file="g.jsonl", author_name="G", author_email="g@x")
    add(empty, "one")
    add(empty, "two")
    assert git(tmp_path, "show", "HEAD:g.jsonl") == "one\ntwo\n"
    assert git(tmp_path, "rev-list", "--count", "HEAD").strip() == "2"


def refused(repo: Repository) -> str:
    with pytest.raises(RepositoryRefuses) as error:
        add(repo, "more")
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_file_that_was_changed_and_not_committed_is_left_alone(
    repo: Repository, folder: Path
) -> None:
    add(repo, "one")
    repo.path.write_text("one\nby hand\n")
    assert "differs from the last commit" in refused(repo)
    assert repo.path.read_text() == "one\nby hand\n"
    git(folder, "add", "cases/golden.jsonl")
    assert "differs from the last commit" in refused(repo)
    git(folder, "commit", "-qm", "By hand")
    add(repo, "two")
    assert repo.path.read_text() == "one\nby hand\ntwo\n"


def test_a_file_that_nobody_committed_is_left_alone(repo: Repository, folder: Path) -> None:
    repo.path.parent.mkdir()
    repo.path.write_text("mine\n")
    (folder / ".git/info/exclude").write_text("cases/\n")
    assert "differs from the last commit" in refused(repo)
    assert repo.path.read_text() == "mine\n"


def conflict(repo: Repository, folder: Path) -> None:
    add(repo, "one")
    git(folder, "checkout", "-qb", "side")
    add(repo, "side")
    git(folder, "checkout", "-q", "main")
    add(repo, "main")
    with pytest.raises(subprocess.CalledProcessError):
        git(folder, "merge", "side")


def test_a_conflict_is_refused_until_it_is_resolved(repo: Repository, folder: Path) -> None:
    conflict(repo, folder)
    before = repo.path.read_text()
    assert refused(repo).startswith("a merge is under way")
    (folder / ".git/MERGE_HEAD").unlink()  # a merge that was broken off half way
    assert "has a conflict" in refused(repo)
    assert repo.path.read_text() == before
    git(folder, "checkout", "-q", "--theirs", "cases/golden.jsonl")
    git(folder, "add", "cases/golden.jsonl")
    git(folder, "commit", "-qm", "Resolve")
    add(repo, "more")
    assert repo.path.read_text() == "one\nside\nmore\n"


def test_conflicts_elsewhere_are_a_merge_all_the_same(repo: Repository, folder: Path) -> None:
    (folder / ".git/rebase-merge").mkdir()
    assert refused(repo).startswith("a rebase is under way")


def test_a_detached_head_is_refused(repo: Repository, folder: Path) -> None:
    git(folder, "checkout", "-q", "--detach")
    assert "detached HEAD" in refused(repo)


def test_what_is_no_work_tree_is_refused(repo: Repository, folder: Path, tmp_path: Path) -> None:
    from dataclasses import replace

    assert "is not a folder" in refused(replace(repo, root=tmp_path / "none"))
    (tmp_path / "plain").mkdir()
    assert "not a git repository" in refused(replace(repo, root=tmp_path / "plain"))
    (folder / "sub").mkdir()
    assert "is not the top folder" in refused(replace(repo, root=folder / "sub"))
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    assert "is not the top folder" in refused(replace(repo, root=tmp_path / "bare.git"))
    with pytest.raises(RepositoryRefuses, match="repository is not set"):
        repository(GoldenSettings())


def test_a_link_out_of_the_tree_is_refused(repo: Repository, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    repo.path.parent.symlink_to(tmp_path / "elsewhere")
    assert "leads out of" in refused(repo)


def test_a_branch_that_moved_meanwhile_keeps_its_commit(repo: Repository, folder: Path) -> None:
    add(repo, "one")
    with locked(repo):
        tree = clean_tree(repo)
        (folder / "README.md").write_text("moved\n")
        git(folder, "commit", "-qam", "Beside us")
        with pytest.raises(RepositoryRefuses, match="update-ref"):
            commit(repo, tree, "one\ntwo\n", "Sign")
    assert git(folder, "log", "-1", "--format=%s").strip() == "Beside us"
    assert repo.path.read_text() == "one\n"
    assert status(folder) == ""


class Cut(Exception):
    """The process crashes here."""


def test_a_commit_whose_file_did_not_follow_is_finished(
    repo: Repository, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(repo, "one")

    def cut(*_: object) -> None:
        raise Cut

    with monkeypatch.context() as patch:
        patch.setattr(module, "_follow", cut)
        with pytest.raises(Cut):
            add(repo, "two")
    assert repo.path.read_text() == "one\n"
    assert git(folder, "show", "HEAD:cases/golden.jsonl") == "one\ntwo\n"
    with locked(repo):
        assert clean_tree(repo).text == "one\ntwo\n"
    assert repo.path.read_text() == "one\ntwo\n"
    assert status(folder) == ""


def test_a_locked_index_does_not_undo_a_commit(repo: Repository, folder: Path) -> None:
    add(repo, "one")
    lock = folder / ".git/index.lock"
    lock.touch()
    commit_id = add(repo, "two")
    assert git(folder, "rev-parse", "HEAD").strip() == commit_id
    lock.unlink()
    add(repo, "three")
    assert repo.path.read_text() == "one\ntwo\nthree\n"
    assert status(folder) == ""


def test_what_somebody_wrote_after_such_a_cut_is_not_overwritten(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(repo, "one")

    def cut(*_: object) -> None:
        raise Cut

    with monkeypatch.context() as patch:
        patch.setattr(module, "_follow", cut)
        with pytest.raises(Cut):
            add(repo, "two")
    repo.path.write_text("one\nby hand\n")
    assert "differs from the last commit" in refused(repo)
    assert repo.path.read_text() == "one\nby hand\n"


def test_who_writes_into_the_file_during_a_commit_keeps_it(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(repo, "one")
    hashed = module._hash

    def write_meanwhile(repo: Repository, content: bytes, *, write: bool) -> str:
        if write:
            repo.path.write_text("one\nby hand\n")
        return hashed(repo, content, write=write)

    with monkeypatch.context() as patch:
        patch.setattr(module, "_hash", write_meanwhile)
        add(repo, "two")
    assert repo.path.read_text() == "one\nby hand\n"
    assert "differs from the last commit" in refused(repo)


def test_hooks_and_the_callers_git_variables_lead_nowhere(
    repo: Repository, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pre-commit", "reference-transaction", "post-index-change"):
        hook = folder / ".git/hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
        hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
    git(tmp_path, "init", "-q", "other")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other/.git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "other/index"))
    add(repo, "one")
    assert git(folder, "show", "HEAD:cases/golden.jsonl") == "one\n"
    assert not (tmp_path / "ran").exists()


def test_line_ends_are_those_that_the_repository_checks_out(repo: Repository, folder: Path) -> None:
    (folder / ".gitattributes").write_text("*.jsonl text eol=crlf\n")
    git(folder, "add", ".gitattributes")
    git(folder, "commit", "-qm", "Line ends")
    add(repo, "one")
    add(repo, "two")
    assert repo.path.read_bytes() == b"one\r\ntwo\r\n"
    assert git(folder, "show", "HEAD:cases/golden.jsonl") == "one\ntwo\n"
    assert status(folder) == ""


def test_writers_at_a_time_lose_nothing(repo: Repository, folder: Path) -> None:
    threads = [threading.Thread(target=add, args=(repo, f"line {n}")) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(repo.path.read_text().split("\n")[:-1]) == [f"line {n}" for n in range(6)]
    assert git(folder, "rev-list", "--count", "HEAD").strip() == "7"
    assert status(folder) == ""


def test_a_folder_that_cannot_be_written_is_refused(repo: Repository, folder: Path) -> None:
    (folder / ".git" / module.LOCK).mkdir()
    with pytest.raises(RepositoryRefuses, match="cannot be locked"), locked(repo):
        pass
