"""`ragvigil import` against a running daemon: counted, resumed, never twice."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ragvigil.app.cli.import_ import import_source
from ragvigil.app.demo.child_daemon import ChildDaemon, running
from ragvigil.app.demo.replay import SendOptions
from ragvigil.app.process.tied import start_tied
from tests.exports import GOLDEN
from tests.patience import PATIENCE_SECONDS
from tests.unit.collector.backfill.test_collector_file import line, request
from tests.unit.collector.backfill.test_langfuse_export import ROWS, SCORE

pytestmark = pytest.mark.slow

REQUESTS = 5
"""Few enough for the file to be shorter than what names it: it grows all the same."""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChildDaemon]:
    with running(tmp_path_factory.mktemp("import")) as started:
        yield started


def run(
    daemon: ChildDaemon, path: object, *options: str, form: str = "collector_file"
) -> tuple[int, Any, str]:
    done = subprocess.run(
        [sys.executable, "-m", "ragvigil.app.cli.main", "import", form, str(path), "--json",
         "--endpoint", f"http://{daemon.http}", *options],
        capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


def acknowledged(daemon: ChildDaemon) -> int:
    return int(daemon.get("ledger")["spans"]["acknowledged"])


def stored_trace(daemon: ChildDaemon, trace_id: str) -> Any:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return daemon.get(f"traces/{trace_id}")
        except httpx2.HTTPStatusError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def stored(daemon: ChildDaemon) -> int:
    return int(daemon.get("ledger")["spans"]["stored"])


def test_a_file_is_imported_once_however_often_it_is_asked(
    daemon: ChildDaemon, tmp_path: Path
) -> None:
    path = tmp_path / "traces.json"
    path.write_bytes(b"".join(line(request(number)) for number in range(REQUESTS)))
    code, told, _ = run(daemon, path, "--dry-run")
    assert (code, told["items"]) == (0, 2 * REQUESTS)
    assert not path.with_name("traces.json.ragvigil-import.json").exists()
    code, told, _ = run(daemon, path)
    assert (code, told["items"], told["offset"]) == (0, 2 * REQUESTS, path.stat().st_size)
    with path.open("ab") as file:
        file.write(line(request(REQUESTS)))
    code, told, _ = run(daemon, path)
    assert (code, told["items"]) == (0, 2 * REQUESTS + 2)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while stored(daemon) < 2 * REQUESTS + 2 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert daemon.get("ledger")["spans"]["acknowledged"] == 2 * REQUESTS + 2
    assert stored(daemon) == 2 * REQUESTS + 2


def test_a_note_of_another_file_is_refused_in_one_line(daemon: ChildDaemon, tmp_path: Path) -> None:
    path, note = tmp_path / "other.json", tmp_path / "note.json"
    path.write_bytes(line(request(99)))
    note.write_text('{"head": "00", "head_bytes": 9, "offset": 7}', encoding="utf-8")
    code, _, error = run(daemon, path, "--state", str(note))
    assert code == 2
    assert error.strip() == f"{note}: belongs to another file; remove it to start again"


@pytest.mark.parametrize(
    ("form", "name"),
    [("phoenix_export", "phoenix-rest.json"), ("phoenix_export", "phoenix-frame.parquet")],
)
def test_an_export_of_phoenix_is_stored_with_its_own_times_and_only_once(
    daemon: ChildDaemon, tmp_path: Path, form: str, name: str
) -> None:
    path = tmp_path / name
    shutil.copy(GOLDEN / "exports" / name, path)
    before = acknowledged(daemon)
    for _ in range(2):
        code, told, error = run(daemon, path, form=form)
        assert (code, told["items"], told["refused"]) == (0, 26, 0), error
    assert acknowledged(daemon) == before + 26
    assert told["this_run"]["spans"] == 0
    trace = stored_trace(daemon, "55acb4e444318b63465291a8db33a046")
    assert "90-day unconditional guarantee" in json.dumps(trace)


def test_scores_of_langfuse_are_feedback_on_the_answers_that_they_name(
    daemon: ChildDaemon, tmp_path: Path
) -> None:
    """Of the answer's root and of its trace, before the answer and behind it."""
    answer = next(row for row in ROWS if not row["parent_observation_id"])
    early, late = tmp_path / "scores.json", tmp_path / "observations.json"
    of_trace = SCORE | {"id": "s-0", "trace_id": answer["trace_id"], "observation_id": None}
    of_root = of_trace | {"id": "s-9", "observation_id": answer["id"], "value": 1}
    early.write_text(json.dumps([of_trace]), encoding="utf-8")
    late.write_text(json.dumps([*ROWS, of_root]), encoding="utf-8")
    for path, items in ((early, 1), (late, len(ROWS) + 1)):
        code, told, error = run(daemon, path, form="langfuse_export")
        assert (code, told["items"], told["refused"]) == (0, items, 0), error
    deadline, given = time.monotonic() + 60, []
    while len(given) < 2 and time.monotonic() < deadline:
        time.sleep(0.3)
        given = [
            said
            for record in stored_trace(daemon, answer["trace_id"])["records"]
            for said in record["feedback"]
        ]
    assert sorted((said["source"], said["value"]) for said in given) == [
        ("langfuse", 0.25), ("langfuse", 1.0),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChildDaemon]:
    """A daemon that asks for a token, and for the admin's where a backfill is declared."""
    tokens = {
        "RAGVIGIL_COLLECTOR__HTTP_TOKEN": "sesame",
        "RAGVIGIL_COLLECTOR__ADMIN_TOKEN": "r00t",
    }
    with running(tmp_path_factory.mktemp("guarded"), settings=tokens) as started:
        yield started


@pytest.mark.parametrize(
    ("token", "why"),
    [(None, "a token is needed"), ("wr0ng", "a token is needed"), ("sesame", "the admin token")],
)
def test_an_import_without_the_admin_token_is_one_line_and_notes_nothing(
    guarded: ChildDaemon, tmp_path: Path, token: str | None, why: str
) -> None:
    path, kept = tmp_path / "traces.json", tmp_path / "token"
    path.write_bytes(line(request(3)))
    kept.write_text(token or "", encoding="utf-8")
    options = ("--token-file", str(kept)) if token else ()
    before = acknowledged(guarded)
    code, told, error = run(guarded, path, *options)
    assert (code, told) == (2, None)
    assert why in error
    assert not path.with_name("traces.json.ragvigil-import.json").exists()
    assert acknowledged(guarded) == before


def test_an_import_with_the_admin_token_of_a_file_arrives(
    guarded: ChildDaemon, tmp_path: Path
) -> None:
    path, kept = tmp_path / "traces.json", tmp_path / "token"
    path.write_bytes(line(request(4)))
    before = acknowledged(guarded)
    code, told, error = run(guarded, path, "--token-file", str(tmp_path / "none"))
    assert (code, told) == (2, None)
    assert "the token cannot be read" in error
    kept.write_text("r00t\n", encoding="utf-8")
    code, told, error = run(guarded, path, "--token-file", str(kept))
    assert (code, told["items"]) == (0, 2), error
    assert acknowledged(guarded) == before + 2


def test_what_lies_outside_of_the_times_is_counted_and_not_sent(
    daemon: ChildDaemon, tmp_path: Path
) -> None:
    path = GOLDEN / "exports" / "phoenix-rest.json"
    spans = json.loads(path.read_text(encoding="utf-8"))["data"]
    middle = sorted(span["start_time"] for span in spans)[10]
    note = ("--state", str(tmp_path / "note.json"))
    code, early, _ = run(daemon, path, "--dry-run", "--until", middle, *note, form="phoenix_export")
    assert code == 0
    code, late, _ = run(daemon, path, "--dry-run", "--since", middle, *note, form="phoenix_export")
    assert code == 0
    assert (early["items"], early["this_run"]["outside"]) == (10, 16)
    assert (late["items"], late["this_run"]["outside"]) == (16, 10)
    assert late["this_run"]["first"] == middle[:23] + "+00:00"
    assert not (tmp_path / "note.json").exists()


@pytest.mark.parametrize(
    ("form", "options", "message"),
    [
        ("zipkin", (), "zipkin: is not one of the formats collector_file,"),
        ("collector_clickhouse", (), "reads http(s)://user:password@host:8123/database"),
        ("collector_file", ("--since", "yesterday"), "--since: 'yesterday' is no time like"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    daemon: ChildDaemon, tmp_path: Path, form: str, options: tuple[str, ...], message: str
) -> None:
    path = tmp_path / "traces.json"
    path.write_bytes(line(request(7)))
    code, told, error = run(daemon, path, *options, form=form)
    assert (code, told) == (2, None)
    assert message in error
    assert len(error.splitlines()) == 1


def test_an_import_stopped_by_ctrl_c_goes_on_where_it_was(
    daemon: ChildDaemon, tmp_path: Path
) -> None:
    path, requests, spans = tmp_path / "long.json", 120, 600
    path.write_bytes(b"".join(line(request(10_000 + n, spans)) for n in range(requests)))
    note = tmp_path / "note.json"
    before = acknowledged(daemon)
    process = start_tied(
        [sys.executable, "-m", "ragvigil.app.cli.main", "import", "collector_file", str(path),
         "--endpoint", f"http://{daemon.http}", "--state", str(note)],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not note.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 130, error
    assert "the same command goes on from here" in error
    arrived = json.loads(note.read_text(encoding="utf-8"))["items"]
    assert 0 < arrived < requests * spans
    code, told, _ = run(daemon, path, "--state", str(note))
    assert (code, told["items"]) == (0, requests * spans)
    assert told["this_run"]["spans"] == requests * spans - arrived
    # The one body under way when it was stopped may have arrived: it is sent again.
    assert requests * spans <= acknowledged(daemon) - before <= (requests + 1) * spans


def test_an_import_whose_daemon_is_gone_says_so_and_how_it_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "traces.json"
    path.write_bytes(line(request(8)))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        sending = SendOptions(target=url, backfill="import", give_up_seconds=3)
        assert import_source("collector_file", str(path), sending) == 2
    lines = [row for row in capsys.readouterr().err.splitlines() if row.startswith(url)]
    assert lines[0].startswith(f"{url}: nothing answers (")
    assert lines[0].endswith("); trying again for 3 s")
    assert lines[1].endswith("s; the same command goes on from here")
    assert len(lines) == 2
