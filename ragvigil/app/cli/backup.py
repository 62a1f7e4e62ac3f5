"""`ragvigil backup` and `ragvigil restore`."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragvigil.app.cli.input import triage
from ragvigil.app.cli.input.options import Config, Json, asks_daemon, reads_settings

if TYPE_CHECKING:
    from ragvigil.app.settings import Settings

ASK_SECONDS = 0.5
Folder = Annotated[Path, typer.Argument(help="The backup's folder: data_dir/backups/NAME.")]


@asks_daemon
def backup(
    name: Annotated[str | None, typer.Argument(help="Its name; default the time.")] = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Copies the embedded store into data_dir/backups, while the daemon runs."""
    from ragvigil.app.cli.output.backup import print_backup

    name = name or datetime.now(UTC).strftime("%Y-%m-%d-%H%M%S")
    made = triage.send(config, "backups", {"name": name}, role="admin")
    while made["state"] == "running":
        time.sleep(ASK_SECONDS)
        made = triage.fetch(config, f"backups/{name}", role="admin")
    print_backup(made, as_json=json)
    sys.exit(0 if made["state"] == "done" else 1)


@reads_settings
def restore(
    folder: Folder,
    config: Config = None,
    check: Annotated[
        bool, typer.Option("--check", help="Restore into a folder that is removed again.")
    ] = False,
    json: Json = False,
) -> None:
    """Restores a backup into a data_dir without a store, and checks every part of it."""
    from ragvigil.app.cli.output.backup import print_restored
    from ragvigil.app.process.directory import DirectoryTaken
    from ragvigil.store.engine.errors import StoreUnusable

    settings = triage.settings_of(config)
    try:
        rows = _check(settings, folder) if check else _restore(settings, folder)
    except (StoreUnusable, DirectoryTaken) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    print_restored({"rows": rows, "is_check": check}, as_json=json)


def _check(settings: Settings, folder: Path) -> dict[str, int]:
    """Restores beside the backup, where there is room for it."""
    from ragvigil.store.engine import backup as backups

    with tempfile.TemporaryDirectory(prefix=".check-", dir=folder.parent) as scratch:
        return backups.restore(settings.store, folder, Path(scratch)).rows


def _restore(settings: Settings, folder: Path) -> dict[str, int]:
    """Restores under the daemon's lock; what cannot be restored leaves no store behind."""
    from ragvigil.app.pipeline.dirty_minutes import FILE_NAME, DirtyMinutes
    from ragvigil.app.process.directory import hold
    from ragvigil.store.engine import backup as backups

    with hold(settings.data_dir, "core"):
        had_store = (settings.data_dir / "store").exists()
        try:
            restored = backups.restore(settings.store, folder, settings.data_dir)
        except backups.BadBackup:
            if not had_store:
                shutil.rmtree(settings.data_dir / "store", ignore_errors=True)
            raise
        DirtyMinutes(settings.data_dir / FILE_NAME).add(restored.minutes)
        return restored.rows
