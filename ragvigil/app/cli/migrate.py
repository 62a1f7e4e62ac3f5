"""`ragvigil migrate`: the store's tables, brought up to date or only shown."""

from __future__ import annotations

import sys

from ragvigil.app.process.directory import DirectoryTaken, hold
from ragvigil.app.settings import Settings


def migrate_store(settings: Settings, *, dry_run: bool) -> int:
    """Runs the pending migrations, or prints their SQL; returns the exit status.

    A dry run opens no store: it prints every statement that a new store would get.
    """
    from ragvigil.store.engine.errors import StoreUnusable
    from ragvigil.store.engine.migrate import migrations
    from ragvigil.store.engine.store import Store

    if dry_run:
        for migration in migrations():
            print(f"-- {migration.number:04d}_{migration.name}")
            for statement in migration.statements(settings.store.cluster):
                print(f"{statement};")
        return 0
    try:
        with hold(settings.data_dir, "core"):
            Store.open(settings.store, settings.data_dir).close()
    except (StoreUnusable, DirectoryTaken) as error:
        print(error, file=sys.stderr)
        return 2
    print("the store's tables are up to date")
    return 0
