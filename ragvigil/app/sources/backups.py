"""Backups for the API: one at a time, each in a thread."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path

import structlog

from ragvigil.model.clock import Clock
from ragvigil.store.engine import backup
from ragvigil.store.engine.errors import StoreError
from ragvigil.store.engine.store import Store
from ragvigil.web.api.backups import BackupForm, BackupRefused

log = structlog.get_logger()


class Backups:
    """The API's `BackupSource`; safe from any thread."""

    def __init__(self, store: Store, data_dir: Path, version: str, clock: Clock) -> None:
        self._store, self._version, self._clock = store, version, clock
        self._folder = data_dir / backup.BACKUPS
        self._running, self._problem = "", dict[str, str]()
        self._lock = threading.Lock()

    def begin(self, name: str) -> BackupForm:
        """Begins a backup; raises BackupRefused where another one runs or the name is taken."""
        if self._store.settings.url:
            raise BackupRefused("the store is a ClickHouse server, which makes its own backups")
        with self._lock:
            if self._running:
                raise BackupRefused(f"the backup {self._running} is being made; ask again later")
            if (self._folder / name).exists():
                raise BackupRefused(f"there is a backup {name}; give another name")
            self._running = name
        threading.Thread(target=self._run, args=(name,), name="backup", daemon=True).start()
        return self._form(name, "running")

    def find(self, name: str) -> BackupForm | None:
        """How far a backup is; None where there is none."""
        if name == self._running:
            return self._form(name, "running")
        if name in self._problem:
            return self._form(name, "failed", self._problem[name])
        try:
            made = backup.manifest_of(self._folder / name).made
        except backup.BadBackup as error:
            is_there = (self._folder / name).is_dir()
            return self._form(name, "failed", str(error)) if is_there else None
        return self._form(name, "done", made=made)

    def _run(self, name: str) -> None:
        self._problem.pop(name, None)
        try:
            backup.make(self._store, self._folder / name, self._version, self._clock())
            log.info("backup made", folder=str(self._folder / name))
        except (StoreError, OSError) as error:
            log.error("a backup failed", name=name, reason=str(error))
            self._problem[name] = str(error)
        finally:
            self._running = ""

    def _form(self, name: str, state: str, problem: str = "", made: int = 0) -> BackupForm:
        return BackupForm.model_validate(
            {
                "name": name,
                "state": state,
                "folder": str(self._folder / name),
                "problem": problem,
                "made": datetime.fromtimestamp(made, UTC) if made else None,
            }
        )
