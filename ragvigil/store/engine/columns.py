"""Types of the tables' columns, read from the database once its migrations are applied."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragvigil.store.engine import table as tables
from ragvigil.store.engine.errors import SchemaMismatch
from ragvigil.store.queries import query

if TYPE_CHECKING:
    from clickhouse_connect.datatypes.base import ClickHouseType
    from clickhouse_connect.driver.client import Client

LOW = "LowCardinality(String)"


class Columns:
    """The driver's type of each column, so that an insert asks the database nothing."""

    def __init__(self, names: Mapping[str, Mapping[str, str]]) -> None:
        self._names = names
        self._types: dict[tuple[str, tuple[str, ...]], list[ClickHouseType]] = {}

    @classmethod
    def read(cls, client: Client) -> Columns:
        """The columns that can be written. Raises what the driver raises."""
        names: dict[str, dict[str, str]] = defaultdict(dict)
        for table, column, kind in client.query(query("columns_written")).result_rows:
            names[table][column] = kind
        return cls(names)

    def check(self, declared: Mapping[str, Mapping[str, str]] | None = None) -> None:
        """Raises SchemaMismatch for the first column that is written and does not exist."""
        for table, sources in (tables.declared if declared is None else declared).items():
            if self._names and table not in self._names:
                raise SchemaMismatch(
                    f"the store's table {table} is gone: put back a copy of the store, or move it "
                    f"away, and ragvigil begins an empty one and stores what the spool still has"
                )
            for column, source in sources.items():
                if column not in self._names.get(table, {}):
                    raise SchemaMismatch(
                        f"{source} has no column: a migration must add {column} to {table}"
                    )

    def types(self, table: str, columns: tuple[str, ...]) -> Sequence[ClickHouseType]:
        """The types of these columns; raises SchemaMismatch for one that does not exist."""
        key = (table, columns)
        if key not in self._types:
            self.check({table: {name: f"{table}.{name}" for name in columns}})
            self._types[key] = [_driver_type(self._names[table][name]) for name in columns]
        return self._types[key]


def _driver_type(kind: str) -> ClickHouseType:
    from clickhouse_connect.datatypes.registry import get_from_name

    # The engine builds the dictionaries of LowCardinality columns 20 times as fast as the driver
    # does, so they are sent as plain strings.
    return get_from_name(kind.replace(LOW, "String"))
