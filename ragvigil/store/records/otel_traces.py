"""Reads the `otel_traces` table that the OpenTelemetry Collector's ClickHouse exporter writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ragvigil.store.engine.connection import follow_no_redirect
from ragvigil.store.queries import query

TABLE = "otel_traces"
PAGE_ROWS = 5_000


class NotReadable(Exception):
    """The table cannot be read; one line says why."""


def read_otel_traces(url: str, after: int, page_rows: int = PAGE_ROWS) -> Iterator[dict[str, Any]]:
    """Spans that started later than `after` (ns since 1970), oldest first, a page at a time.

    `url` is `http(s)://user:password@host:8123/database`, with `?table=NAME` where the table is
    not `otel_traces`. A page never ends between two spans of the same time. Raises NotReadable.
    """
    from clickhouse_connect import get_client
    from clickhouse_connect.driver.exceptions import ClickHouseError

    dsn, table = _parts(url)
    try:
        client = get_client(dsn=dsn, query_retries=0, autogenerate_session_id=False)
        follow_no_redirect(client)
        try:
            while page := _page(client, table, after, page_rows):
                yield from page
                after = page[-1]["Start"]
        finally:
            client.close()
    except (ClickHouseError, OSError, ValueError) as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise NotReadable(f"{table}: cannot be read: {reason[0][:300]}") from error


def _page(client: Any, table: str, after: int, page_rows: int) -> list[dict[str, Any]]:
    parameters = {"table": table, "after": after, "rows": page_rows}
    return list(client.query(query("otel_traces_page"), parameters=parameters).named_results())


def _parts(url: str) -> tuple[str, str]:
    """The address without the table, and the table."""
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    table = options.pop("table", TABLE)
    return urlunsplit(parts._replace(query=urlencode(options))), table
