"""Commits the set's file in a git work tree: one commit for each signed case, no other file.

A commit is made beside the work tree (blob, tree, commit) and becomes the branch's head by one
compare-and-swap of the reference: before that nothing has happened, after it the case is signed.
Then the file and its index entry are updated. A crash in between leaves the file of the commit
before, and the next call finishes the update. Hooks are not run.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import structlog

from clustering.golden.git import RepositoryRefuses, git, line
from clustering.golden.settings import GoldenSettings
from ragvigil.model.golden import GoldenCase
from ragvigil.model.text import one_line

log = structlog.get_logger()

LOCK = "ragvigil-golden.lock"
TRAILER = "Golden-case"
SHOWN = 60
"""Characters of the question in a commit's subject."""
UNDER_WAY = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "BISECT_LOG": "a bisection",
}
PLAIN_FILE = "100644"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """The work tree's top folder, the set's file in it, and who its commits are by."""

    root: Path
    file: str
    author_name: str
    author_email: str

    @property
    def path(self) -> Path:
        """The set's file."""
        return self.root / self.file


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanTree:
    """A clean work tree: its branch, its head, and the file's text at that head."""

    branch: str
    head: str
    """Empty before the first commit."""
    text: str
    mode: str = PLAIN_FILE


def repository(settings: GoldenSettings) -> Repository:
    """The repository of the settings. Raises RepositoryRefuses if they name none."""
    if settings.repository is None:
        raise RepositoryRefuses(
            "[golden] repository is not set: name the git work tree that the set lies in"
        )
    return Repository(
        root=settings.repository,
        file=settings.file,
        author_name=settings.author_name,
        author_email=settings.author_email,
    )


@contextmanager
def locked(repo: Repository) -> Iterator[None]:
    """Lets one writer in at a time, of any process; waits for the other.

    Raises RepositoryRefuses where the folder cannot be written.
    """
    try:
        file = (_git_folder(repo) / LOCK).open("a")
    except OSError as error:
        raise RepositoryRefuses(f"{repo.root} cannot be locked: {error}") from error
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def clean_tree(repo: Repository) -> CleanTree:
    """The committed set; finishes what a crash left half done. Call it within `locked`.

    Raises RepositoryRefuses if there is no work tree or branch, a merge is under way, or the file
    differs from the last commit.
    """
    _require_work_tree(repo)
    branch = line(repo.root, "symbolic-ref", "--quiet", "HEAD")
    if not branch:
        raise RepositoryRefuses(
            f"{repo.root} has a detached HEAD: check a branch out, so that commits are kept"
        )
    head = line(repo.root, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
    mode, blob = _at(repo, "HEAD") if head else ("", "")
    if _in_work_tree(repo) != blob or _in_index(repo) != blob:
        _finish(repo, blob, mode)
    return CleanTree(
        branch=branch,
        head=head,
        text=_decoded(repo, git(repo.root, "cat-file", "blob", blob) if blob else b""),
        mode=mode or PLAIN_FILE,
    )


def commit(repo: Repository, tree_at_head: CleanTree, text: str, message: str) -> str:
    """Commits `text` as the file's content on top of `tree_at_head`, and returns the commit's id.

    Raises RepositoryRefuses if the branch has moved since; nothing is changed then.
    """
    environment = _identity(repo)
    blob, before = _hash(repo, text.encode(), write=True), _in_index(repo)
    with tempfile.TemporaryDirectory(prefix="ragvigil-golden-") as folder:
        # An index of its own: what people have staged is not part of the commit.
        environment["GIT_INDEX_FILE"] = str(Path(folder) / "index")
        git(repo.root, "read-tree", tree_at_head.head or "--empty", environment=environment)
        _enter(repo, tree_at_head.mode, blob, environment)
        tree = _printed(repo, "write-tree", environment=environment)
    parents = ("-p", tree_at_head.head) if tree_at_head.head else ()
    commit_id = _printed(
        repo, "commit-tree", tree, *parents, sent=message.encode(), environment=environment
    )
    # Fails if the branch has moved. An empty old value means that it must not exist yet.
    subject = f"golden: {message.partition(chr(10))[0]}"
    git(
        repo.root, "update-ref", "-m", subject, tree_at_head.branch, commit_id, tree_at_head.head,
        environment=environment,
    )  # fmt: skip
    try:
        # What somebody wrote into the file meanwhile stays: the next call reports the difference.
        if _in_work_tree(repo) == before:
            _follow(repo, tree_at_head.mode, blob)
    except (RepositoryRefuses, OSError) as error:  # the commit stands: the next call finishes it
        log.warning("golden set: the file does not follow its commit yet", reason=str(error))
    return commit_id


def commit_of(repo: Repository, case_id: str, content_hash: str) -> str:
    """The newest commit that signed this content of this case; empty if there is none."""
    return line(
        repo.root, "log", "-1", "--format=%H", "--fixed-strings", "--all-match",
        f"--grep={TRAILER}: {case_id}", f"--grep=Content-hash: {content_hash}",
    )  # fmt: skip


def message(case: GoldenCase) -> str:
    """A commit's message: a subject and trailers with the case, its hash, its author and signer."""
    shown = one_line(case.question, SHOWN)
    trailers = {
        TRAILER: case.case_id,
        "Content-hash": case.content_hash,
        "Revision": str(case.revision),
        "Proposed-by": case.proposed_by,
        "Edited-by": ", ".join(case.edited_by),
        "Approved-by": case.approved_by,
        "Trace": case.trace_id,
        "Issue": case.issue_id,
    }
    lines = "\n".join(f"{name}: {one_line(value)}" for name, value in trailers.items() if value)
    return f"Sign golden case {case.case_id}: {shown}\n\n{lines}\n"


def _require_work_tree(repo: Repository) -> None:
    git(repo.root, "rev-parse", "--git-dir")
    top = line(repo.root, "rev-parse", "--show-toplevel")
    if not top or Path(top).resolve() != repo.root.resolve():
        raise RepositoryRefuses(
            f"[golden] repository: {repo.root} is not the top folder of a git work tree"
        )
    folder = _git_folder(repo)
    for name, what in UNDER_WAY.items():
        if (folder / name).exists():
            raise RepositoryRefuses(f"{what} is under way in {repo.root}: finish or abort it")
    if repo.path.is_symlink() or not repo.path.resolve().is_relative_to(repo.root.resolve()):
        raise RepositoryRefuses(f"{repo.file} leads out of {repo.root} by a symbolic link")


def _git_folder(repo: Repository) -> Path:
    return Path(_printed(repo, "rev-parse", "--absolute-git-dir"))


def _at(repo: Repository, revision: str) -> tuple[str, str]:
    """Mode and blob of the file in a commit; empty if it is not there."""
    fields = line(repo.root, "ls-tree", revision, "--", repo.file).split()
    return (fields[0], fields[2]) if len(fields) > 2 else ("", "")


def _in_index(repo: Repository) -> str:
    """The staged blob, empty for none; several stages are a conflict. Raises RepositoryRefuses."""
    entries = line(repo.root, "ls-files", "--stage", "--", repo.file).splitlines()
    if len(entries) > 1:
        raise RepositoryRefuses(f"{repo.file} has a conflict: resolve and commit it")
    return entries[0].split()[1] if entries else ""


def _in_work_tree(repo: Repository) -> str:
    if not repo.path.exists():
        return ""
    return _hash(repo, repo.path.read_bytes(), write=False)


def _hash(repo: Repository, content: bytes, *, write: bool) -> str:
    """The content's blob id for that path, with the line ends that the repository asks for."""
    how = ("-w",) if write else ()
    return _printed(repo, "hash-object", *how, f"--path={repo.file}", "--stdin", sent=content)


def _finish(repo: Repository, blob: str, mode: str) -> None:
    """Updates file and index after a commit of ours that a crash cut short.

    Only if they are exactly as the commit before left them: nobody's work is overwritten.
    """
    message = git(repo.root, "log", "-1", "--format=%B", "HEAD", may_fail=True)
    parent = line(repo.root, "rev-parse", "--quiet", "--verify", "HEAD^")
    before = _at(repo, parent)[1] if parent else ""
    expected = {before, blob}
    is_ours = blob and f"{TRAILER}: ".encode() in message
    if not is_ours or not {_in_work_tree(repo), _in_index(repo)} <= expected:
        raise RepositoryRefuses(
            f"{repo.file} differs from the last commit in {repo.root}: commit or undo that first"
        )
    _follow(repo, mode, blob)


def _follow(repo: Repository, mode: str, blob: str) -> None:
    """Writes the blob as git would check it out, atomically, and stages it."""
    content = git(repo.root, "cat-file", "--filters", f"--path={repo.file}", blob)
    repo.path.parent.mkdir(parents=True, exist_ok=True)
    permissions = repo.path.stat().st_mode & 0o777 if repo.path.exists() else 0o644
    descriptor, name = tempfile.mkstemp(dir=_git_folder(repo), prefix="ragvigil-golden-")
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    Path(name).chmod(permissions)
    Path(name).replace(repo.path)
    _enter(repo, mode, blob, {})


def _enter(repo: Repository, mode: str, blob: str, environment: dict[str, str]) -> None:
    entry = f"{mode},{blob},{repo.file}"
    git(repo.root, "update-index", "--add", "--cacheinfo", entry, environment=environment)


def _identity(repo: Repository) -> dict[str, str]:
    return {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", repo.author_name), ("EMAIL", repo.author_email))
    }


def _printed(
    repo: Repository,
    *arguments: str,
    sent: bytes = b"",
    environment: dict[str, str] | None = None,
) -> str:
    return git(repo.root, *arguments, sent=sent, environment=environment).decode().strip()


def _decoded(repo: Repository, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RepositoryRefuses(f"{repo.file} is not UTF-8: mend it by hand") from error
