"""An erased trace, user or session: nothing of it is left, and nothing brings it back."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from collector.spool.directory import QUARANTINE, is_end_asked
from ragvigil.app.erasure.erasing import Erasing
from ragvigil.inference.process import Inference
from ragvigil.inference.settings import InferenceSettings
from ragvigil.llm.cache import Cache
from ragvigil.model.span import Span
from ragvigil.store.engine.erased import Erased, Subject
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.retention import KEPT
from ragvigil.store.engine.store import Store
from ragvigil.store.erasure import erasures
from ragvigil.web.api.erasures import ErasureForm
from tests.outcomes import NOW, SECOND
from tests.patience import PATIENCE_SECONDS
from tests.pipelines import Core, answer, trace_id

NAMES = {"user.id": "ada@example.com", "session.id": "session-7"}
PLANTED = "¤Ω七Æ¬ŧ→ø½þ"
"""Few characters of a wide alphabet: the codecs leave so short a text as it is."""


class NoJudge:
    """A judge that is switched off."""

    def with_client(self, _: object) -> None:
        """Asks nobody."""


class Desk:
    """Who erases beside a core, or in a store without one."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.folder = folder
        self.erasing = Erasing(
            store,
            folder,
            NoJudge(),  # type: ignore[arg-type]
            Inference(InferenceSettings()),
            lambda: NOW / SECOND,
        )

    def erase(self, subject: Subject, id_: str) -> ErasureForm:
        begun = self.erasing.begin(subject, id_)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            found = self.erasing.find(begun.id)
            assert found is not None
            if found.state != "running":
                return found
            time.sleep(0.02)
        raise AssertionError("it does not end")


def traces(core: Core) -> set[int]:
    """The numbers of the traces with rows in any table."""
    names = {int(row["TraceId"], 16) for row in core.rows("spans")}
    for table in ("records", "scores", "traces"):
        names |= {int(row["trace_id"], 16) for row in core.rows(table)}
    return names


def plant(store: Store, table: str, columns: str, *rows: str) -> None:
    """Inserts rows as young as now: older ones than a table keeps would go by themselves."""
    (day,) = re.findall(r"\((\w+)\)", KEPT[table][1])
    values = ", ".join(f"({row}, now())" for row in rows)
    store.change(f"INSERT INTO {table} ({columns}, {day}) VALUES {values}")


@pytest.fixture(autouse=True)
def nothing_erased(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another test erased is stored here."""
    erased = Erased()
    monkeypatch.setattr(store, "erased", erased)
    monkeypatch.setattr(store._engine._writer, "_erased", erased)


@pytest.fixture
async def core(tmp_path: Path, store: Store) -> Core:
    return await Core.born(tmp_path, store)


@pytest.fixture
def desk(tmp_path: Path, core: Core) -> Desk:
    return Desk(core.store, tmp_path)


def named(**names: str) -> Sequence[Span]:
    """An answer whose root names a user and a session."""
    root, *others = answer(f"Within 30 days. {PLANTED} [refund-01]")
    attributes = {**root.attributes, **NAMES, **names}
    return [replace(root, attributes=attributes), *others]


def query(store: Store, sql: str) -> list[Any]:
    return list(store._ask("test", lambda c: c.query(sql).result_rows, Priority.SCAN))


def on_disk(store: Store, needle: str) -> list[Path]:
    """Files of the store with these bytes, replaced parts and the database's own logs included."""
    folder = Path(
        query(store, "SELECT data_paths[1] FROM system.tables WHERE name = 'spans'")[0][0]
    )
    root = next(
        parent
        for parent in folder.parents
        if parent.name == "store" and (parent.parent / "metadata").exists()
    )
    files = [path for path in root.parent.rglob("*") if path.is_file()]
    return [path for path in files if needle.encode() in path.read_bytes()]


async def test_nothing_of_an_erased_trace_is_left_on_the_disk(core: Core, desk: Desk) -> None:
    await core.send(1, named())
    await core.send(2, answer())
    core.pass_time(5)
    store = core.store
    assert on_disk(store, PLANTED)  # else the end of this test would say nothing
    done = desk.erase(Subject.TRACE, trace_id(1).hex())
    assert (done.state, done.traces) == ("done", 1)
    assert done.rows["records"] == 1
    assert done.rows["spans"] == len(named())
    assert traces(core) == {2}
    assert on_disk(store, PLANTED) == []
    for row in query(
        store, "SELECT table FROM system.parts WHERE active AND database = currentDatabase()"
    ):
        store.change(f"OPTIMIZE TABLE {row[0]} FINAL")
    assert on_disk(store, PLANTED) == []
    assert on_disk(store, trace_id(1).hex()) == []


@pytest.mark.parametrize(
    ("subject", "id_"), [(Subject.USER, "ada@example.com"), (Subject.SESSION, "session-7")]
)
async def test_a_user_or_session_is_erased_with_every_trace_that_names_it(
    core: Core, desk: Desk, subject: Subject, id_: str
) -> None:
    await core.send(1, named())
    await core.send(2, named(**{"user.id": "bob", "session.id": "session-70"}))
    # No answer, but a span that names them.
    await core.send(3, [replace(named()[0], parent_span_id="")])
    core.pass_time(5)
    assert traces(core) == {1, 2, 3}
    assert desk.erase(subject, id_).traces == 2
    assert traces(core) == {2}


async def test_neither_a_replay_nor_a_late_span_nor_another_send_brings_it_back(
    core: Core, desk: Desk
) -> None:
    await core.send(1, named())
    await core.send(2, answer())
    core.pass_time(5)
    desk.erase(Subject.TRACE, trace_id(1).hex())
    later = core.restarted()
    await later.send(1, named())
    await later.send(1, [replace(answer()[1], span_id="late")])
    later.pass_time(5)
    assert traces(later) == {2}
    assert later.balance.mismatch() == 0
    assert later.balance.spans()["in_spool"] == 0


async def test_what_a_user_sent_before_is_not_stored_and_what_comes_later_is(
    core: Core, desk: Desk
) -> None:
    await core.send(1, named())  # acknowledged, not read yet
    done = desk.erase(Subject.USER, "ada@example.com")
    assert done.is_in_spool
    await core.send(2, named(), received=NOW + 60 * SECOND)
    core.pass_time(5)
    assert traces(core) == {2}
    assert core.balance.mismatch() == 0


def test_every_table_with_a_trace_loses_its_rows(store: Store, tmp_path: Path) -> None:
    erased, kept = f"{1:032x}", f"{2:032x}"
    columns = store.read("erasure_columns", {"tables": list(KEPT)})
    places = {str(row["table"]): str(row["column"]) for row in columns}
    assert {"spans", "scores", "failures", "labels", "canary_members"} <= set(places)
    for table, column in places.items():
        plant(store, table, f"{column}", f"'{erased}'", f"'{kept}'")
    plant(store, "acts", "act_id, thing", f"'a', 'traces/{erased}'")
    plant(store, "findings", "finding_id, traces", f"'f', ['{erased}', '{kept}']")
    plant(store, "records", "trace_id, record_id, query", f"'{erased}', 'r', 'Why?'")
    plant(store, "topics", "topic_id, examples", "'t', ['Why?', 'How?']")
    desk = Desk(store, tmp_path)
    assert desk.erase(Subject.TRACE, erased).state == "done"
    for table, column in places.items():
        assert {row[0] for row in query(store, f"SELECT {column} FROM {table}")} == {kept}, table
    assert query(store, "SELECT thing FROM acts") == [("traces/erased",)]
    assert query(store, "SELECT traces FROM findings") == [([kept],)]
    assert query(store, "SELECT examples FROM topics") == [(["How?"],)]


async def test_copies_and_replies_on_disk_go(desk: Desk) -> None:
    quarantine = desk.folder / "spool" / QUARANTINE
    quarantine.mkdir()
    (quarantine / "frame-1.otlp").write_bytes(b"..." + trace_id(1) + b"...")
    (quarantine / "frame-2.otlp").write_bytes(b"..." + trace_id(2) + b"...")
    (desk.folder / "judge").mkdir()
    replies = desk.folder / "judge" / "llm_replies.sqlite"
    Cache(10, replies).put("key", PLANTED, "model")
    assert desk.erase(Subject.TRACE, trace_id(1).hex()).rows["quarantined_requests"] == 1
    assert [path.name for path in quarantine.iterdir()] == ["frame-2.otlp"]
    assert not replies.exists()
    assert is_end_asked(desk.folder / "spool")
    assert not is_end_asked(desk.folder / "spool")


def test_a_cleared_cache_leaves_no_bytes(tmp_path: Path) -> None:
    cache = Cache(10, tmp_path / "replies.sqlite")
    cache.put("key", PLANTED, "model")
    assert cache.clear() == 1
    assert not [path for path in tmp_path.iterdir() if PLANTED.encode() in path.read_bytes()]
    assert len(cache) == 0
    cache.close()


async def test_an_erasure_that_ends_while_it_is_asked_for_has_not_failed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = desk.erase(Subject.SESSION, "nobody")
    read = erasures.find

    def slow(store: Store, erasure_id: str = "", limit: int = 100) -> list[erasures.Erasure]:
        """What was read as it began, by the time it has ended."""
        rows = read(store, erasure_id, limit)
        desk.erasing._running.clear()
        return [replace(row, state=erasures.ErasureState.RUNNING) for row in rows]

    monkeypatch.setattr(erasures, "find", slow)
    desk.erasing._running.add(done.id)
    found = desk.erasing.find(done.id)
    assert found is not None
    assert found.state == "running"


async def test_an_erasure_that_nobody_runs_any_more_is_to_be_asked_again(
    core: Core, desk: Desk
) -> None:
    done = desk.erase(Subject.SESSION, "nobody")
    assert (done.state, done.traces) == ("done", 0)
    (stored,) = erasures.find(core.store)
    state = erasures.ErasureState.RUNNING
    erasures.write(core.store, replace(stored, state=state), time.time_ns() + 10**9)
    found = desk.erasing.find(done.id)
    assert found is not None
    assert (found.state, found.step) == (
        "failed",
        "this daemon does not run it any more: ask again",
    )
