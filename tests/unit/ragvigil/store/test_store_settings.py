"""Defaults of the store that depend on where it is."""

from __future__ import annotations

from ragvigil.store.settings import StoreSettings

SERVER = "http://localhost:8123/ragvigil"


def test_rows_wait_longer_for_a_server_unless_a_setting_says_how_long() -> None:
    assert StoreSettings().linger == 1.0
    assert StoreSettings(url=SERVER).linger == 2.0
    assert StoreSettings(url=SERVER, linger_seconds=0.5).linger == 0.5
