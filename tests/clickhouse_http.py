"""The embedded engine behind ClickHouse's HTTP interface, in a process of its own.

    with Server(folder) as server:          # listens on server.url
        server.stop(); server.start()       # the same port and data again
        server.fault(slow=2.0)              # every request waits
        server.fault(readonly=1)            # inserts are refused as a read-only replica does
        server.fault(die="spans")           # ends without an answer after storing rows of `spans`
        server.fault(die_before="spans")    # ends without an answer and stores nothing
        server.fault(strict=1)              # an entry of the lease whose number exists is refused
        server.fault()                      # healthy again

Understands what clickhouse-connect sends: queries in the body or in a form, native inserts
(compressed or not), settings, parameters and the database in the URL; session ids are ignored.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import zlib
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from ragvigil.app.demo.child_daemon import free_port
from ragvigil.app.process.tied import start_tied
from tests.patience import PATIENCE_SECONDS

NOT_SETTINGS = {
    "query", "database", "session_id", "session_timeout", "session_check", "query_id", "quota_key",
    "compress", "decompress", "wait_end_of_query", "client_protocol_version", "role", "buffer_size",
    "send_progress_in_http_headers", "http_headers_progress_interval_ms", "enable_http_compression",
    "default_format", "user", "password",
}  # fmt: skip
NATIVE_INSERT = re.compile(
    rb"\s*(INSERT INTO (\S+) .*?)\s+FORMAT Native\n", re.IGNORECASE | re.DOTALL
)
FORMAT = re.compile(rb"\bFORMAT\s+(\w+)\s*;?\s*$", re.IGNORECASE)
DATABASE = "ragvigil"


class Server:
    """Starts, stops and spoils the process; see the module's text."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/{DATABASE}"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Starts the process and waits until it answers."""
        self.wait_for_end()
        command = [sys.executable, __file__, str(self.port), str(self.folder)]
        self._process = start_tied(command)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/ping", timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise TimeoutError("the server does not answer")

    def stop(self) -> None:
        """Ends the process at once, as a power cut does to it."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def wait_for_end(self) -> None:
        """Waits until a process that a fault has ended is gone."""
        if self._process is not None:
            self._process.wait(PATIENCE_SECONDS)
            self._process = None

    def fault(self, **faults: object) -> None:
        """From now on these faults, and no others."""
        query = urlencode({name: str(value) for name, value in faults.items()})
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/fault?{query}", method="POST"
        )
        urllib.request.urlopen(request, data=b"", timeout=5).close()


class _Refused(Exception):
    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"Code: {code}. DB::Exception: {text}")
        self.code = code


class _Engine:
    """Runs one request at a time, each on a connection of its own, as HTTP sessions are."""

    def __init__(self, folder: Path) -> None:
        import chdb

        self._path = str(folder)
        self._connect = chdb.connect
        self._keep_open = chdb.connect(self._path)
        self._keep_open.query(f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
        self._lock = threading.Lock()
        self.faults: dict[str, str] = {}

    def answer(self, parameters: dict[str, str], body: bytes) -> tuple[bytes, str]:
        """The result of a request and its format; raises _Refused or RuntimeError."""
        asked = parameters.get("query", "").encode()
        text = asked + (b"\n" if asked else b"") + body
        insert = NATIVE_INSERT.match(text)
        table = insert[2].decode().split(".")[-1].strip("`") if insert else ""
        self._spoil(table, insert is not None)
        with self._lock:
            result = self._run(parameters, text, insert)
        if table and self.faults.get("die") == table:
            os._exit(9)
        return result

    def _spoil(self, table: str, is_insert: bool) -> None:
        if "slow" in self.faults:
            time.sleep(float(self.faults["slow"]))
        if is_insert and self.faults.get("die_before") == table:
            os._exit(9)
        if is_insert and "readonly" in self.faults:
            raise _Refused(242, "Table is in readonly mode. (TABLE_IS_READ_ONLY)")

    def _run(
        self, parameters: dict[str, str], text: bytes, insert: re.Match[bytes] | None
    ) -> tuple[bytes, str]:
        connection = self._connect(self._path)
        try:
            connection.query(f"USE {parameters.get('database', DATABASE)}")
            settings = [pair for pair in parameters.items() if _is_setting(pair[0])]
            for name, value in sorted(settings, key=lambda pair: pair[0] == "readonly"):
                connection.query(f"SET {name} = '{value}'")
            if insert is not None:
                return self._insert(connection, insert[1].decode(), text[insert.end() :])
            bound = {
                name[6:]: value for name, value in parameters.items() if name.startswith("param_")
            }
            if "strict" in self.faults and b"INSERT INTO leases" in text:
                self._refuse_a_number_that_exists(connection, bound["number"])
            named = FORMAT.search(text)
            form = named[1].decode() if named else "TabSeparated"
            return connection.query(text.decode(), form, params=bound).bytes() or b"", form
        finally:
            connection.close()

    def _refuse_a_number_that_exists(self, connection: Any, number: str) -> None:
        """What a KeeperMap does with `keeper_map_strict_mode`: there is no Keeper here."""
        sql = f"SELECT count() FROM leases WHERE number = {int(number)}"
        if connection.query(sql, "TabSeparated").bytes().strip() != b"0":
            raise _Refused(999, "Coordination error: Node exists. (KEEPER_EXCEPTION)")

    def _insert(self, connection: Any, statement: str, rows: bytes) -> tuple[bytes, str]:
        with tempfile.NamedTemporaryFile(suffix=".native") as file:
            file.write(rows)
            file.flush()
            if "FROM input('" in statement:
                # The engine in this process has no body of a request to read from.
                read = statement.replace("FROM input('", f"FROM file('{file.name}', 'Native', '")
                connection.query(read)
            else:
                connection.query(f"{statement} FROM INFILE '{file.name}' FORMAT Native")
        return b"", ""


def _is_setting(name: str) -> bool:
    return name not in NOT_SETTINGS and not name.startswith("param_")


def _fields(content_type: str, body: bytes) -> dict[str, str]:
    """The fields of a form, as the driver sends parameters that are too long for a URL."""
    message = message_from_bytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body)
    return {
        str(part.get_param("name", header="content-disposition")): part.get_payload()
        for part in message.get_payload()
    }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    engine: _Engine

    def log_message(self, *_: object) -> None:
        """Silent."""

    def do_GET(self) -> None:
        """Answers `/ping`, and queries in the URL."""
        if self.path.startswith("/ping"):
            self._send(200, b"Ok.\n", {})
        else:
            self._query(b"")

    def do_POST(self) -> None:
        """Answers queries and inserts; `/fault?...` sets the faults."""
        body = _decompressed(self._body(), self.headers.get("Content-Encoding", ""))
        if self.path.startswith("/fault"):
            self.engine.faults = dict(parse_qsl(urlsplit(self.path).query))
            self._send(200, b"", {})
        else:
            self._query(body)

    def _query(self, body: bytes) -> None:
        parameters = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        if self.headers.get_content_type() == "multipart/form-data":
            parameters, body = parameters | _fields(self.headers["Content-Type"], body), b""
        try:
            found, form = self.engine.answer(parameters, body)
        except Exception as error:
            text = str(error)
            place = text.find("Code: ")
            text = text[max(place, 0) :]
            code = re.match(r"Code: (\d+)", text)
            self._send(
                500, text.encode(), {"X-ClickHouse-Exception-Code": code[1] if code else "1002"}
            )
            return
        summary = json.dumps({"read_rows": "0", "written_rows": "0"})
        headers = {"X-ClickHouse-Summary": summary, "X-ClickHouse-Timezone": "UTC"}
        if form and found:
            headers["X-ClickHouse-Format"] = form
        self._send(200, found, headers)

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)


def _decompressed(body: bytes, encoding: str) -> bytes:
    if encoding == "lz4":
        import lz4.frame

        return bytes(lz4.frame.decompress(body))
    if encoding == "zstd":
        from backports import zstd

        return zstd.decompress(body)
    if encoding in ("gzip", "deflate"):
        return zlib.decompress(body, 47)
    return body


def main() -> None:
    _Handler.engine = _Engine(Path(sys.argv[2]))
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), _Handler).serve_forever()


if __name__ == "__main__":
    main()
