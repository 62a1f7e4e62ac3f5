"""Inserts that the server refuses unless a condition holds when it runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from clickhouse_connect.driver.client import Client
    from clickhouse_connect.driver.insert import InsertBlock

Guard: TypeAlias = Callable[[str], str]
"""The condition, as SQL, under which rows of a table may be written; empty for none."""


def insert_guarded(client: Client, table: str, condition: str, **insert: Any) -> None:
    """Inserts rows, if the condition holds; `insert` as of the driver's `insert`.

    Without a condition it is the driver's own. Raises what the driver raises, and what the
    condition throws.
    """
    if not condition:
        client.insert(table, **insert)
        return
    context = client.create_insert_context(table, **insert)
    blocks = context.next_block
    prefix = _statement(context.table, insert["column_names"], context.column_types, condition)

    def guarded() -> Iterator[InsertBlock]:
        for block in blocks():
            # The first block of an insert begins with its statement.
            yield block._replace(prefix=prefix) if block.prefix else block

    vars(context)["next_block"] = guarded
    client.data_insert(context)


def _statement(table: str, names: Sequence[str], types: Sequence[Any], condition: str) -> bytes:
    columns = ", ".join(f"`{name}`" for name in names)
    structure = ", ".join(
        f"`{name}` {kind.insert_name}" for name, kind in zip(names, types, strict=True)
    ).replace("'", "\\'")
    return (
        f"INSERT INTO {table} ({columns}) SELECT {columns} FROM input('{structure}') "
        f"WHERE {condition} FORMAT Native\n"
    ).encode()
