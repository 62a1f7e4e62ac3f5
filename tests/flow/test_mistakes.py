"""The mistakes that new users make, as a table: mistakes.toml says what each is answered with."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import grpc
import httpx2
import pytest

from ragvigil.app.cli import main
from ragvigil.app.cli.help_topics import EXIT_CODES
from ragvigil.app.client import api as api_client
from ragvigil.app.demo.child_daemon import ChildDaemon, free_port, running
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow

TABLE = Path(__file__).with_name("mistakes.toml")
ROWS = tomllib.loads(TABLE.read_text(encoding="utf-8"))["row"]
QUESTION, CHUNK = "How long do refunds take?", "Refunds take 5 to 7 days."
ANSWER = "They take 5 to 7 days."
NOT_ASKED = ("Usage: ", "Try '")
"""Lines that stand before every error of use."""


def _trace(number: int, **changes: Any) -> dict[str, Any]:
    """An export request in OTLP's JSON: a chain, its retriever and its model."""
    given = {"service": "desk", "end": time.time(), "chunk": CHUNK, "answer": ANSWER, **changes}
    chunk, answer = given["chunk"], given["answer"]
    prompt = QUESTION if chunk is None else f"{QUESTION}\n\n{chunk}"
    kinds: dict[str, dict[str, str]] = {
        "CHAIN": {"input.value": QUESTION, "output.value": answer},
        "RETRIEVER": {"input.value": QUESTION, "retrieval.documents.0.document.content": chunk},
        "LLM": {
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": prompt,
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": answer,
        },
    }
    if chunk is None:
        del kinds["RETRIEVER"]
    spans = [
        {
            "traceId": f"{number:032x}",
            "spanId": f"{place:016x}",
            "parentSpanId": "" if place == 1 else f"{1:016x}",
            "name": kind,
            "startTimeUnixNano": str(int((given["end"] - 1) * 1e9)),
            "endTimeUnixNano": str(int(given["end"] * 1e9)),
            "attributes": _attributes({"openinference.span.kind": kind, **attributes}),
        }
        for place, (kind, attributes) in enumerate(kinds.items(), start=1)
    ]
    resource = {"attributes": _attributes({"service.name": given["service"]})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]}


def _attributes(values: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]


def _in_snake_case(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            re.sub("[A-Z]", r"_\g<0>", key).lower(): _in_snake_case(value[key]) for key in value
        }
    return [_in_snake_case(item) for item in value] if isinstance(value, list) else value


TRACES: dict[str, Callable[[int], list[dict[str, Any]]]] = {
    "snake": lambda number: [_in_snake_case(_trace(number))],
    "twice": lambda number: [_trace(number)] * 2,
    "clock": lambda number: [_trace(number, end=60.0)],
    "large": lambda number: [_trace(number, chunk=f"{CHUNK} " * 42_000)],
    "empty": lambda number: [_trace(number, answer="")],
    "bare": lambda number: [_trace(number, service="bare", chunk=None)],
    "judged": lambda number: [_trace(number)],
}
"""Requests to send for a trace with this number, by the name that rows call it."""
NUMBERS = {name: number for number, name in enumerate(TRACES, start=0xABC)}


class WrongKey(BaseHTTPRequestHandler):
    """A provider that knows no key."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps({"error": {"message": "Incorrect API key", "code": "invalid_api_key"}})
        self.send_response(401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Nothing: standard error is what is tested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """What rows talk to: a daemon, a port that nobody listens on, and one that never answers."""

    daemon: ChildDaemon
    names: Mapping[str, str]

    def fill(self, text: str) -> str:
        """The text with the names of these places in it."""
        for name, value in self.names.items():
            text = text.replace(f"{{{name}}}", value)
        return text


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    folder = tmp_path_factory.mktemp("daemon")
    with contextlib.ExitStack() as stack:
        provider = ThreadingHTTPServer(("127.0.0.1", 0), WrongKey)
        threading.Thread(target=provider.serve_forever, daemon=True).start()
        stack.callback(provider.shutdown)
        daemon = stack.enter_context(running(folder, settings=_judge(provider.server_port)))
        silent = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        closed = stack.enter_context(socket.socket())
        closed.bind(("127.0.0.1", 0))
        names = {
            "http": daemon.http,
            "grpc": daemon.grpc,
            "web": daemon.web,
            "metrics": daemon.metrics,
            "data_dir": str(daemon.data_dir),
            "closed": f"http://127.0.0.1:{closed.getsockname()[1]}",
            "silent": f"http://127.0.0.1:{silent.getsockname()[1]}",
            **{name: f"{number:032x}" for name, number in NUMBERS.items()},
        }
        yield Places(daemon=daemon, names=names)


def _judge(port: int) -> dict[str, str]:
    """Settings of a judge whose key is wrong, and which is asked about every answer."""
    values = {
        "MODEL": "openai:gpt-5-mini",
        "KEY": "sk-wr0ng",
        "BASE_URL": f"http://127.0.0.1:{port}/v1",
        "ALLOW": "true",
        "SAMPLE_RATE": "1",
    }
    return {f"RAGVIGIL_JUDGE__{key}": value for key, value in values.items()}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["mistake"])
def test_a_mistake_is_answered_with_one_line(
    row: dict[str, Any],
    places: Places,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in row.get("files", {}).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name in [name for name in os.environ if name.startswith("RAGVIGIL_")]:
        monkeypatch.delenv(name)
    if "sends" in row:
        shown = _reply(row, places)
    elif "starts" in row:
        shown = _refused_start(row, places)
    else:
        for name, value in {"RAGVIGIL_URL": "http://{web}", **row.get("env", {})}.items():
            monkeypatch.setenv(name, places.fill(value))
        shown = _said(row, places, monkeypatch, capfd)
    assert "Traceback" not in shown
    wanted = places.fill(row["line"]).replace("{here}", str(tmp_path))
    lines = [line for line in shown.splitlines() if line and not line.startswith(NOT_ASKED)]
    assert [line for line in lines if _is_like(line, wanted)], shown
    if row.get("exit") == 2:
        assert len(lines) == 1


def _said(
    row: dict[str, Any],
    places: Places,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> str:
    """What the command printed; after a trace was sent, as soon as it shows the line."""
    monkeypatch.setitem(api_client._request.__kwdefaults__, "timeout", 10.0)
    if "silent" in row.get("env", {}).get("RAGVIGIL_URL", ""):
        monkeypatch.setitem(api_client._request.__kwdefaults__, "timeout", 0.3)
    monkeypatch.setattr(sys, "argv", ["ragvigil", *map(places.fill, row["command"])])
    if "after" in row:
        _send(row["after"], places)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        with pytest.raises(SystemExit) as ended:
            main.main()
        shown = "".join(capfd.readouterr())
        is_there = any(_is_like(line, places.fill(row["line"])) for line in shown.splitlines())
        if "after" not in row or is_there or time.monotonic() > deadline:
            break
        time.sleep(1)
    code = ended.value.code or 0
    assert (code, code in EXIT_CODES) == (row["exit"], True), shown
    return shown


def _refused_start(row: dict[str, Any], places: Places) -> str:
    free = {
        f"RAGVIGIL_{name}ENDPOINT": f"127.0.0.1:{free_port()}"
        for name in ("COLLECTOR__GRPC_", "COLLECTOR__HTTP_", "METRICS__", "WEB__")
    }
    given = {name: places.fill(value) for name, value in row["starts"].items()}
    done = subprocess.run(
        [sys.executable, "-m", "ragvigil.app.daemon"],
        env={**os.environ, **free, **given},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == row["exit"], done.stderr
    return done.stdout + done.stderr


def _reply(row: dict[str, Any], places: Places) -> str:
    """What the daemon's listener answered."""
    sends = row["sends"]
    address = places.names[sends["listener"]]
    if "grpc" in sends:
        return _grpc_error(address)
    headers = {"content-type": "application/json", **sends.get("headers", {})}
    method, body = sends.get("method", "POST"), sends.get("body", "")
    url = f"http://{address}{sends['path']}"
    reply = httpx2.request(method, url, content=body.encode(), headers=headers, timeout=60)
    assert reply.status_code == row["status"], reply.text
    told = reply.json()
    # An OTLP error, one of the API, or a partial success.
    error = told.get("error") or {"message": told.get("partialSuccess", {}).get("errorMessage")}
    return str(told.get("message") or error["message"])


def _grpc_error(address: str) -> str:
    with grpc.insecure_channel(address) as channel:
        export = channel.unary_unary("/opentelemetry.proto.collector.trace.v1.TraceService/Export")
        with pytest.raises(grpc.RpcError) as refusal:
            export(b"", timeout=PATIENCE_SECONDS)
    return str(refusal.value.details())


def _send(name: str, places: Places) -> None:
    url = f"http://{places.daemon.http}/v1/traces"
    for body in TRACES[name](NUMBERS[name]):
        httpx2.post(url, json=body, timeout=60).raise_for_status()


def _is_like(line: str, wanted: str) -> bool:
    """Whether a line is the wanted one, in which * stands for anything."""
    pattern = ".*".join(re.escape(part) for part in wanted.split("*"))
    return re.fullmatch(pattern, line, flags=re.DOTALL) is not None
