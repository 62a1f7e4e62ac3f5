"""The daemon as whoever calls a tool may read it."""

from __future__ import annotations

from typing import Any, Protocol

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from ragvigil.app.client import api
from ragvigil.app.client.connection import Connection, to_api, to_api_for
from ragvigil.app.settings import Settings, SettingsError

Answer = dict[str, Any]


class Read(Protocol):
    """`GET /api/v1/<path>` with the rights of the caller."""

    def __call__(self, path: str, /, **parameters: Any) -> Answer:
        """The JSON of the reply; parameters of None or "" are left out. Raises ToolError."""
        ...


def read_for(context: Context[Settings]) -> Read:
    """Reads the daemon of the settings, which are the server's lifespan. Raises ToolError."""
    connection = _connection(context.request_context.lifespan_context, context)

    def read(path: str, /, **parameters: Any) -> Answer:
        given = {key: value for key, value in parameters.items() if value not in (None, "")}
        try:
            answer: Answer = api.get_from(connection, path, **given)
        except api.Unreachable as error:
            raise ToolError(str(error)) from error
        return answer

    return read


def _connection(settings: Settings, context: Context[Settings]) -> Connection:
    """With the token of the settings for a local process, with the caller's own over HTTP."""
    try:
        if context.headers is None:
            return to_api(settings, "reader")
        return to_api_for(settings, context.headers.get("authorization", ""))
    except SettingsError as error:
        raise ToolError(str(error)) from error
