"""The day's spending on disk, so that a restart does not begin the day anew.

A SQLite file of a few rows. The reservation of a call is written before the call is made: after a
crash its tokens count as spent, so that the budget spends too little rather than too much.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path

SCHEMA = """
CREATE TABLE IF NOT EXISTS spending (
    day TEXT NOT NULL, pot TEXT NOT NULL, tokens INTEGER NOT NULL, money REAL NOT NULL,
    PRIMARY KEY (day, pot)
) WITHOUT ROWID
"""


class Pot(StrEnum):
    """The two parts of a budget: one paced over the day, one kept for boosts and audits."""

    SAMPLE = "sample"
    RESERVED = "reserved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Tokens and US dollars."""

    tokens: int = 0
    money: float = 0.0

    def __add__(self, other: Spending) -> Spending:
        return Spending(tokens=self.tokens + other.tokens, money=self.money + other.money)

    def __sub__(self, other: Spending) -> Spending:
        return Spending(tokens=self.tokens - other.tokens, money=self.money - other.money)


class SpendingLog:
    """Reads and writes what each pot has spent on a day; in memory without a path."""

    def __init__(self, path: Path | None = None) -> None:
        self._database = sqlite3.connect(
            path or ":memory:",
            isolation_level=None,
            check_same_thread=False,  # opened in another thread than that of its loop
        )
        self._database.execute("PRAGMA journal_mode = WAL")
        # A crash of the process loses nothing; one of the machine may lose the last seconds.
        self._database.execute("PRAGMA synchronous = NORMAL")
        self._database.execute(SCHEMA)

    def read(self, day: date, pot: Pot) -> Spending:
        """What the pot has spent on the day, reservations included."""
        query = "SELECT tokens, money FROM spending WHERE day = ? AND pot = ?"
        row = self._database.execute(query, (day.isoformat(), pot)).fetchone()
        return Spending(tokens=row[0], money=row[1]) if row else Spending()

    def write(self, day: date, pot: Pot, spending: Spending) -> None:
        """Replaces what the pot has spent on the day."""
        self._database.execute(
            "INSERT OR REPLACE INTO spending VALUES (?, ?, ?, ?)",
            (day.isoformat(), pot, spending.tokens, spending.money),
        )

    def close(self) -> None:
        """Closes the file."""
        self._database.close()
