"""The API on a port of its own, and commands that talk to it."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import httpx2
import uvicorn
from starlette.types import ASGIApp
from typer.testing import CliRunner

from ragvigil.app.cli.main import app
from tests.patience import PATIENCE_SECONDS

TERMINAL = {"COLUMNS": "220"}


@contextmanager
def port_of(web: ASGIApp) -> Iterator[int]:
    """A free port, on which the application is served by a thread."""
    server = uvicorn.Server(uvicorn.Config(web, port=0, lifespan="off", log_config=None))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join(5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """The command line of a user with a settings file; `port` is that of the API."""

    config: Path
    port: int

    def say(self, *arguments: str, status: int = 0, typed: str = "", token: str = "") -> str:
        """What `ragvigil ARGUMENTS` prints; with this exit status, sent with this token if any."""
        command = [*arguments, "--config", str(self.config)]
        env = TERMINAL | ({"RAGVIGIL_CLIENT__TOKEN": token} if token else {})
        done = CliRunner().invoke(app, command, input=typed, env=env)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == status, done.output
        return done.output

    def page(self, path: str) -> str:
        """What a page says: its text, with single spaces."""
        reply = httpx2.get(f"http://127.0.0.1:{self.port}{path}", timeout=PATIENCE_SECONDS)
        assert reply.status_code == 200, reply.text
        main = reply.text.partition("<main")[2].partition(">")[2].partition("</main>")[0]
        text = unescape(" ".join(re.sub(r"<[^>]+>", " ", main).split()))
        return re.sub(r" ([,;.])", r"\1", text)


@contextmanager
def commands(
    web: ASGIApp, folder: Path, tokens: Mapping[str, str] | None = None, more: str = ""
) -> Iterator[Commands]:
    """Commands for this application; `more` are further lines of the settings file."""
    with port_of(web) as port:
        lines = [f'endpoint = "127.0.0.1:{port}"']
        lines += [f'{name} = "{token}"' for name, token in (tokens or {}).items()]
        config = folder / "ragvigil.toml"
        config.write_text("\n".join(["[web]", *lines, more, ""]))
        yield Commands(config=config, port=port)
