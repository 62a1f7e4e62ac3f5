"""`ragvigil migrate`: the store's tables, brought up to date or only shown."""

from __future__ import annotations

import sys
import threading

from ragvigil.app.process.directory import DirectoryTaken, hold
from ragvigil.app.settings import Settings

PATIENCE_SECONDS = 300.0
"""How long a server that does not answer is waited for."""


def migrate_store(settings: Settings, *, dry_run: bool) -> int:
    """Runs the pending migrations, or prints their SQL; returns the exit status.

    A dry run opens no store: it prints every statement that a new store would get.
    """
    from ragvigil.store.engine.errors import StoreUnusable
    from ragvigil.store.engine.migrate import migrations
    from ragvigil.store.engine.store import Store
    from ragvigil.store.fleet.lease_table import LeaseTable, statement

    if dry_run:
        for migration in migrations():
            print(f"-- {migration.number:04d}_{migration.name}")
            for sql in migration.statements(settings.store.cluster):
                print(f"{sql};")
        if settings.store.url:
            print(f"-- leases of a fleet\n{statement(settings.store.cluster)};")
        return 0
    try:
        with hold(settings.data_dir, "core"):
            store = Store.open(settings.store, settings.data_dir)
            patience = threading.Event()
            timer = threading.Timer(PATIENCE_SECONDS, patience.set)
            timer.start()
            is_ready, trouble = store.sharing.wait_ready(patience), store.status().trouble
            timer.cancel()
            store.close()
            if not is_ready:
                print(f"the tables are not up to date: {trouble}", file=sys.stderr)
                return 2
            if settings.store.url:
                LeaseTable(settings.store).newest()  # the first look makes the table
    except (StoreUnusable, DirectoryTaken) as error:
        print(error, file=sys.stderr)
        return 2
    print("the store's tables are up to date")
    return 0
