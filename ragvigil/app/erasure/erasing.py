"""Erases a trace, a user or a session: rows, caches, files; and keeps it from coming back.

The order matters:

1. Hashes of the ids are stored, and the writer leaves out what they name: nothing new is written.
2. What is stored by now is found and removed, until a count finds none.
3. Caches, quarantined requests and replaced files go.
4. The intake ends its segment of the spool, which is dropped when it is consumed, as all are.

Every step may be repeated. A crash leaves the hashes, so that nothing comes back, and an erasure
that says `running` and is asked again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from collector.spool.directory import QUARANTINE, ask_for_end
from collector.spool.reader import SpoolReader
from ragvigil.app.erasure.quarantine import remove_copies
from ragvigil.inference.process import Inference
from ragvigil.model.clock import Clock
from ragvigil.model.identity import identity
from ragvigil.store.engine.erased import Subject, erased_hash
from ragvigil.store.engine.errors import StoreError
from ragvigil.store.engine.store import Store
from ragvigil.store.erasure import erasures, remove
from ragvigil.store.erasure.erasures import Erasure, ErasureState
from ragvigil.web.api.erasures import ErasureForm
from scorers.judge.job import JudgeJob

if TYPE_CHECKING:
    from ragvigil.llm.client import Client

log = structlog.get_logger()

NANOS = 10**9
REPLIES = "judge_replies"
COPIES = "quarantined_requests"
INTERRUPTED = "this daemon does not run it any more: ask again"


class Erasing:
    """The API's `ErasureSource`: one erasure at a time, each in a thread. Safe from any thread."""

    def __init__(
        self, store: Store, data_dir: Path, judging: JudgeJob, inference: Inference, clock: Clock
    ) -> None:
        self._store, self._data_dir = store, data_dir
        self._judging, self._inference = judging, inference
        self._clock = clock
        self._lock = threading.Lock()
        self._running: set[str] = set()

    def begin(self, subject: Subject, id_: str) -> ErasureForm:
        """Stores that it is asked, begins, and returns at once. Raises StoreError."""
        now = self._clock()
        hash_ = erased_hash(subject, id_)
        erasure = Erasure(
            erasure_id=identity(hash_, now),
            asked_unix_nano=int(now * NANOS),
            kind=subject,
            subject=hash_,
            traces=(hash_,) if subject is Subject.TRACE else (),
            last_seq=self._last_seq(),
        )
        self._running.add(erasure.erasure_id)
        self._write(erasure)
        self._store.erased.add(erasure.traces, hash_, int(now))
        threading.Thread(target=self._run, args=(erasure, id_), name="erasure", daemon=True).start()
        return self._form(erasure, {erasure.erasure_id})

    def find(self, erasure_id: str) -> ErasureForm | None:
        """How far an erasure is; None where there is none. Raises StoreError."""
        running = set(self._running)  # before the read: one that ends meanwhile is no other's
        matches = erasures.find(self._store, erasure_id)
        return self._form(matches[0], running) if matches and erasure_id else None

    def newest(self, limit: int) -> list[ErasureForm]:
        """The newest erasures, the newest first. Raises StoreError."""
        running = set(self._running)
        return [self._form(each, running) for each in erasures.find(self._store, limit=limit)]

    def _run(self, erasure: Erasure, id_: str) -> None:
        try:
            with self._lock:
                self._erase(erasure, id_)
        except (StoreError, OSError) as error:
            log.error("an erasure failed", erasure=erasure.erasure_id, reason=str(error))
            self._fail(erasure, str(error))
        finally:
            self._running.discard(erasure.erasure_id)

    def _fail(self, erasure: Erasure, reason: str) -> None:
        try:
            self._write(replace(erasure, state=ErasureState.FAILED, step=reason))
        except StoreError as error:
            log.error("a failed erasure was not noted", reason=str(error))

    def _erase(self, erasure: Erasure, id_: str) -> None:
        def show(step: str) -> None:
            self._write(replace(erasure, step=step))

        store, until = self._store, erasure.asked_unix_nano // NANOS
        show("looking for traces")
        trace_ids = remove.traces_of(store, erasure.kind, id_, until)
        hashes = tuple(erased_hash(Subject.TRACE, each) for each in trace_ids)
        erasure = replace(
            erasure, traces=hashes, golden_cases=remove.golden_in_set(store, trace_ids)
        )
        show(f"{len(trace_ids)} traces")
        store.erased.add(hashes)
        session = id_ if erasure.kind is Subject.SESSION else ""
        rows = remove.remove(store, trace_ids, session, show)
        rows |= {REPLIES: self._forget_replies()}
        rows |= {COPIES: remove_copies(self._spool / QUARANTINE, trace_ids, id_)}
        store.kept.clear()
        self._inference.forget()
        ask_for_end(self._spool)
        self._write(replace(erasure, state=ErasureState.DONE, rows=rows))
        log.info("erased", erasure=erasure.erasure_id, kind=erasure.kind, rows=rows)

    def _forget_replies(self) -> int:
        """Drops all replies of the judge: their keys do not say whose they are."""

        async def forget(client: Client) -> int:
            return client.forget_replies()

        dropped = self._judging.with_client(forget)
        if dropped is None:  # no judge runs: an earlier one may have left its file
            for path in (self._data_dir / "judge").glob("llm_replies.sqlite*"):
                path.unlink(missing_ok=True)
        return dropped or 0

    @property
    def _spool(self) -> Path:
        return self._data_dir / "spool"

    def _last_seq(self) -> int:
        return self._ask_spool(lambda reader: reader.durable_seq)

    def _ask_spool(self, ask: Callable[[SpoolReader], int]) -> int:
        """Asks a reader of its own: the pipeline's belongs to the pipeline's thread."""
        reader = SpoolReader(self._spool)
        try:
            return ask(reader)
        finally:
            reader.close()

    def _write(self, erasure: Erasure) -> None:
        erasures.write(self._store, erasure, int(self._clock() * NANOS))

    def _form(self, erasure: Erasure, running: Collection[str]) -> ErasureForm:
        oldest = self._ask_spool(lambda reader: reader.usage().oldest_seq or 0)
        if erasure.state is ErasureState.RUNNING and erasure.erasure_id not in running:
            erasure = replace(erasure, state=ErasureState.FAILED, step=INTERRUPTED)
        return ErasureForm(
            id=erasure.erasure_id,
            kind=erasure.kind,
            state=erasure.state,
            step=erasure.step,
            traces=len(erasure.traces),
            rows=dict(erasure.rows),
            golden_cases=list(erasure.golden_cases),
            is_in_spool=0 < oldest <= erasure.last_seq,
        )
