"""Fixtures that several folders share."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from ragvigil.store.engine.store import Store
from ragvigil.store.settings import StoreSettings

# Some dozen daemons are started by these tests: only those about local models run one, which takes
# 600 MB and ten seconds of CPU each time. Benchmarks of the tests inherit it.
os.environ.setdefault("RAGVIGIL_INFERENCE__ENABLED", "false")

# A busy machine makes no example wrong: how long one takes is for the benchmarks to say.
settings.register_profile("ragvigil", deadline=None)
settings.load_profile("ragvigil")


# Seven thousand collected tests are a large heap: each full collection would walk all of it.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def opened_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The one embedded engine of this test process: it can open one directory only."""
    folder: Path = tmp_path_factory.mktemp("embedded")
    store = Store.open(StoreSettings(threads=1), folder)
    yield store
    store.close()


@pytest.fixture
def store(opened_store: Store) -> Iterator[Store]:
    """The embedded store without rows. For one of another name see `tests.replicas`."""
    name = opened_store.replica
    yield emptied(opened_store)
    assert opened_store.replica == name, "renamed for every later test: use of_replica"


def emptied(store: Store) -> Store:
    """The same store, all of its rows deleted."""
    for row in store.read("row_counts"):
        if row["table"] != "migrations":
            store.change(f"TRUNCATE TABLE {row['table']}")
    return store
