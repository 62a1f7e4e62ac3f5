"""Kinds of secrets in every place of a request: which reach the disk; marks on clean values.

    .venv/bin/python bench/redaction.py [--small]

Each of 134 kinds stands in each of 28 places, in an assignment, quotes and an escape that the seed
draws, and goes through real servers (gRPC, HTTP with protobuf, HTTP with JSON) into a spool on
disk, whose files are then searched for every piece of it. What was missed is printed on standard
error. Clean values are all strings of the captured requests and of the labelled data.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.rig.options import size_parser
from bench.rig.report import SAMPLES, bench_data, finish, progress
from bench.rig.secret_kinds import Group, Kind, kinds
from bench.rig.secret_places import PLACES, Put, is_log, request
from bench.rig.secret_wraps import wrapped
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

SEED, HELD_OUT_SEED = 7, 1007
"""Only the misses of the first were looked at while the patterns were written."""
WAYS = ("grpc", "protobuf", "json")
SMALL_PLACES = 6
LEAST = {Group.NAMED: 1.0, Group.PRIVATE_KEY: 1.0, Group.PASSWORD: 0.95}
MOST_FALSE = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A secret in a place: its text, and the pieces of which none may reach the disk."""

    kind: Kind
    place: Put
    text: str
    pieces: tuple[str, ...]
    form: str

    def is_left(self, written: bytes) -> bool:
        """Whether a piece is there, as it is or in JSON."""
        return any(form in written for piece in self.pieces for form in _forms(piece))


def _forms(piece: str) -> set[bytes]:
    """How the places write a piece: as it is, in JSON, and in JSON in JSON."""
    once = json.dumps(piece)[1:-1]
    return {piece.encode(), once.encode(), json.dumps(once)[1:-1].encode()}


def main() -> None:
    """Plants, searches, measures, reports."""
    parser = size_parser(__doc__)
    small = parser.parse_args().small
    places = PLACES[:: len(PLACES) // SMALL_PLACES] if small else PLACES
    figures: dict[str, object] = {"kinds": len(kinds()), "places": len(places)}
    bars: dict[str, bool] = {}
    for half, seed in (("", SEED), ("held_out_", HELD_OUT_SEED)):
        shares = _shares(places, seed)
        for group, share in shares.items():
            figures[f"{half}{group.value}"] = round(share, 4)
            bars[f"{half}{group.value} >= {LEAST[group]:.0%}"] = share >= LEAST[group]
    control = _left(_cases(places[0], SEED), RedactSettings(secrets=Action.OFF))
    bars["all are there without redaction"] = len(control) == len(kinds())
    values, false = _false_marks(small=small)
    figures |= {"clean_values": values, "false_marks": len(false)}
    figures["false_share"] = round(len(false) / max(values, 1), 6)
    bars[f"false marks <= {MOST_FALSE:.1%}"] = len(false) <= MOST_FALSE * values
    figures["detect_us_per_span"] = _detect_microseconds()
    finish("redaction", figures, bars, seed=SEED)


def _shares(places: tuple[Put, ...], seed: int) -> dict[Group, float]:
    """The share of cases of each group that left nothing."""
    planted: Counter[Group] = Counter()
    missed: Counter[Group] = Counter()
    for place in places:
        cases = _cases(place, seed)
        planted.update(case.kind.group for case in cases)
        for case in _left(cases, RedactSettings()):
            missed[case.kind.group] += 1
            progress(f"missed [{seed}] {case.kind.name} in {place.__name__} as {case.form}")
    return {group: 1 - missed[group] / planted[group] for group in Group}


def _cases(place: Put, seed: int) -> list[Case]:
    rng = random.Random(f"{seed}{place.__name__}{is_log(place)}")
    cases = []
    for kind in kinds():
        text, pieces, form = wrapped(kind, rng)
        cases.append(Case(kind=kind, place=place, text=text, pieces=pieces, form=form))
    return cases


def _left(cases: list[Case], redact: RedactSettings) -> list[Case]:
    """The cases of which the spool's files hold a piece afterwards."""
    place = cases[0].place
    way = WAYS[PLACES.index(place) % len(WAYS)]
    body = request(place, [case.text for case in cases])
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_send(way, body, Path(folder), redact, is_log=is_log(place)))
        written = b"".join(path.read_bytes() for path in Path(folder).rglob("*") if path.is_file())
    return [case for case in cases if case.is_left(written)]


async def _send(way: str, body: Any, folder: Path, redact: RedactSettings, *, is_log: bool) -> None:
    settings = CollectorSettings(
        grpc_endpoint="127.0.0.1:0", http_endpoint="127.0.0.1:0", redact=redact
    )
    spool = await SpoolWriter.open(folder / "spool")
    redactor = Redactor(settings.redact, key=installation_key(folder))
    gate = Gate.open(settings, spool=spool, redactor=redactor)
    async with serve_grpc(gate, settings) as rpc, serve_http(gate, settings) as web:
        if way == "grpc":
            await _call(rpc, "Logs" if is_log else "Trace", body.SerializeToString())
        else:
            await _post(web, way, "logs" if is_log else "traces", body)
    await spool.close()


async def _call(port: int, name: str, body: bytes) -> None:
    import grpc

    method = next(path for path in METHODS if f".{name}Service/" in path)
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        assert await channel.unary_unary(method)(body) == b"", "something was rejected"


async def _post(port: int, way: str, signal: str, body: Any) -> None:
    import httpx2
    from google.protobuf.json_format import MessageToDict

    media, content = "application/x-protobuf", body.SerializeToString()
    if way == "json":
        media = "application/json"
        content = json.dumps(_hex_ids(MessageToDict(body, use_integers_for_enums=True)))
    async with httpx2.AsyncClient(timeout=60) as client:
        reply = await client.post(
            f"http://127.0.0.1:{port}/v1/{signal}", content=content, headers={"content-type": media}
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


def _false_marks(*, small: bool) -> tuple[int, list[str]]:
    """How many clean values there are, and those that got a mark."""
    redactor = Redactor(RedactSettings(), key=b"k" * 32)
    values, false = 0, list[str]()
    for name, value in _clean_values(small=small):
        values += 1
        counts: Counter[str] = Counter()
        redactor.redact_text(value.encode("utf-8", "replace"), counts)
        if counts:
            false.append(value)
            progress(f"mark on a clean value of {name}: {dict(counts)}")
    return values, false


def _clean_values(*, small: bool) -> Iterator[tuple[str, str]]:
    """Every string of the captured requests and of the labelled data, with where it is."""
    data = None if small else bench_data()
    for path in _captured(data / "captures" if data else SAMPLES / "otlp"):
        encoding = Encoding.JSON if path.suffix == ".json" else Encoding.PROTOBUF
        try:
            read = decode(path.read_bytes(), encoding, Signal.TRACES, LimitSettings())
        except Refused:
            continue
        name = f"{path.parent.parent.name}/{path.name}"
        yield from ((name, text) for text in _texts(read.request))
    for path in sorted((data / "data" if data else SAMPLES / "data").glob("*.jsonl*")):
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield from ((path.name, text) for text in _strings(json.loads(line)))


def _captured(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.suffix in (".pb", ".json"))


def _texts(message: Any) -> Iterator[str]:
    for field, value in message.ListFields():
        for child in value if field.is_repeated else (value,):
            if field.type == field.TYPE_MESSAGE:
                yield from _texts(child)
            elif field.type == field.TYPE_STRING:
                yield child


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for child in value.values() if isinstance(value, dict) else value:
            yield from _strings(child)


def _detect_microseconds() -> float:
    """CPU microseconds a span to decide that an ordinary request holds no secret."""
    from bench.rig import otlp_requests

    redactor = Redactor(RedactSettings(), key=b"k" * 32)
    bodies = otlp_requests.make(500, seed=SEED)
    times = []
    for _ in range(5):
        started = time.thread_time()
        for body in bodies:
            redactor.finds(body)
        times.append(time.thread_time() - started)
    return round(min(times) / (len(bodies) * otlp_requests.SPANS) * 1e6, 2)


if __name__ == "__main__":
    main()
