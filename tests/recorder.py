"""An HTTP server that notes what reaches it, and may redirect."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


class Recorder:
    """A plain HTTP server on a free port of 127.0.0.1.

    `seen` are the first lines of its requests, `tokens` their authorizations. It answers 200 with
    `body`, or redirects every path but `/here` to `redirects_to`, where `{path}` is the path.
    """

    def __init__(self, redirects_to: str = "", *, body: str = "{}", status: int = 307) -> None:
        recorder = self
        self.seen: list[str] = []
        self.tokens: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                length = int(self.headers.get("content-length", 0))
                self.rfile.read(length)
                recorder.seen.append(self.requestline)
                recorder.tokens += self.headers.get_all("authorization", [])
                recorder.tokens += self.headers.get_all("x-api-key", [])
                is_moved = redirects_to and self.path != "/here"
                self.send_response(status if is_moved else 200)
                self.send_header("location", redirects_to.replace("{path}", self.path))
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

            do_POST = do_CONNECT = do_GET  # noqa: N815

            def log_message(self, *_: object) -> None:
                """Keeps standard error quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
