"""100 planted secrets four ways, none left; no mark on clean text; microseconds a span.

    .venv/bin/python bench/redaction.py [--small]

The ways are gRPC, HTTP with protobuf, HTTP with JSON, and logs over gRPC, through real servers
into a spool on disk, whose files are then searched for every secret, as is what was logged.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import random
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.rig.planted import logs_request, secrets, spans_request
from bench.rig.report import SAMPLES, bench_data, finish, progress
from collector.decode.otlp import Encoding, decode
from collector.receiver.grpc import METHODS, serve_grpc
from collector.receiver.http import serve_http
from collector.receiver.receive import Gate
from collector.redaction.redact import Redactor, installation_key
from collector.redaction.settings import Action, RedactSettings
from collector.refusal import Refused
from collector.settings import CollectorSettings, LimitSettings
from collector.spool.spool import SpoolWriter
from ragvigil.model.span import Signal

SEED, PLANTED = 7, 100


def main() -> None:
    """Plants, searches, measures, reports."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    small = parser.parse_args().small
    left = {way: asyncio.run(_left_of(way)) for way in ("grpc", "protobuf", "json", "logs")}
    control = asyncio.run(_left_of("grpc", RedactSettings(secrets=Action.OFF)))
    progress(f"left in the spool: {left}; without redaction {control}")
    clean = _clean_captures()
    marks, examples, spent, spans = _false_marks(clean)
    figures: dict[str, object] = {
        "planted": PLANTED,
        "left": left,
        "left_without_redaction": control,
        "clean_bodies": len(clean),
        "clean_spans": spans,
        "false_marks": marks,
        "false_examples": examples,
        "detect_us_per_span": round(spent / max(spans, 1) * 1e6, 2),
    }
    bars = {
        "0 planted secrets in the spool": not any(left.values()),
        "0 marks on clean captures": marks == 0,
        "all found when redaction is off": control == PLANTED,
    }
    if not small and bench_data():
        bars["at least 1000 clean spans"] = spans >= 1000
    finish("redaction", figures, bars, seed=SEED)


async def _left_of(way: str, redact: RedactSettings | None = None) -> int:
    """How many of the planted secrets the spool's files hold afterwards."""
    planted = secrets(PLANTED, random.Random(f"{SEED}{way}"))
    texts = [text for _, text in planted]
    with tempfile.TemporaryDirectory() as folder:
        await _send(way, texts, Path(folder), redact or RedactSettings())
        written = b"".join(path.read_bytes() for path in Path(folder).rglob("*") if path.is_file())
    left = [secret for secret, _ in planted if _is_in(secret, written)]
    for secret in left if redact is None else []:
        progress(f"{way}: left {secret[:6]}... of {len(secret)} signs")
    return len(left)


def _is_in(secret: str, written: bytes) -> bool:
    """Whether the secret is there as it is, in JSON, or in base64."""
    plain = secret.encode()
    forms = (plain, json.dumps(secret)[1:-1].encode(), base64.b64encode(plain))
    return any(form in written for form in forms)


async def _send(way: str, texts: list[str], folder: Path, redact: RedactSettings) -> None:
    settings = CollectorSettings(
        grpc_endpoint="127.0.0.1:0", http_endpoint="127.0.0.1:0", redact=redact
    )
    spool = await _opened(folder / "spool")
    redactor = Redactor(settings.redact, key=installation_key(folder))
    gate = Gate.open(settings, spool=spool, redactor=redactor)
    async with serve_grpc(gate, settings) as rpc, serve_http(gate, settings) as web:
        if way in ("grpc", "logs"):
            request = logs_request(texts) if way == "logs" else spans_request(texts)
            await _call(rpc, way, request.SerializeToString())
        else:
            await _post(web, way, spans_request(texts))
    await spool.close()


async def _opened(directory: Path) -> Any:
    opened = SpoolWriter.open(directory)
    return await opened if asyncio.iscoroutine(opened) else opened


async def _call(port: int, way: str, body: bytes) -> None:
    import grpc

    name = "Logs" if way == "logs" else "Trace"
    method = next(path for path in METHODS if f".{name}Service/" in path)
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        assert await channel.unary_unary(method)(body) == b"", "something was rejected"


async def _post(port: int, way: str, request: Any) -> None:
    import httpx2
    from google.protobuf.json_format import MessageToDict

    kind, body = "application/x-protobuf", request.SerializeToString()
    if way == "json":
        kind = "application/json"
        body = json.dumps(_hex_ids(MessageToDict(request, use_integers_for_enums=True)))
    async with httpx2.AsyncClient() as client:
        reply = await client.post(
            f"http://127.0.0.1:{port}/v1/traces", content=body, headers={"content-type": kind}
        )
    assert reply.status_code == 200, reply.text
    assert reply.content in (b"", b"{}"), "something was rejected"


def _hex_ids(value: Any) -> Any:
    if isinstance(value, list):
        return [_hex_ids(child) for child in value]
    if not isinstance(value, dict):
        return value
    return {
        key: base64.b64decode(child).hex() if key in ("traceId", "spanId") else _hex_ids(child)
        for key, child in value.items()
    }


def _clean_captures() -> list[Path]:
    """Captured request bodies: nobody planted anything in them."""
    data = bench_data()
    root = data / "captures" if data else SAMPLES / "otlp"
    return sorted(path for path in root.rglob("*") if path.suffix in (".pb", ".json"))


def _false_marks(bodies: list[Path]) -> tuple[int, list[str], float, int]:
    """Marks made, examples of them, seconds spent detecting, and spans searched."""
    redactor = Redactor(RedactSettings(), key=b"k" * 32)
    marks, spent, spans = 0, 0.0, 0
    examples: list[str] = []
    for path in bodies:
        encoding = Encoding.JSON if path.suffix == ".json" else Encoding.PROTOBUF
        try:
            read = decode(path.read_bytes(), encoding, Signal.TRACES, LimitSettings())
        except Refused:
            continue
        payload = read.payload()
        started = time.perf_counter()
        is_found = redactor.finds(payload)
        spent += time.perf_counter() - started
        spans += read.items
        found = redactor.redact(read.request) if is_found else {}
        marks += sum(found.values())
        examples += [f"{path.parent.parent.name}/{path.name}: {name}" for name in found]
    return marks, examples[:10], spent, spans


if __name__ == "__main__":
    main()
