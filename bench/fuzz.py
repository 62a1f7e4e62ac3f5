"""Bytes and values that nobody meant, into everything that reads them: nothing may crash or hang.

    .venv/bin/python bench/fuzz.py [--small] [--seconds N] [--seed N] [--only TARGET ...]

Targets: the decoders (OTLP in protobuf and JSON, on to spans, records and scores), frames of the
spool, settings files, replies of a judge, and the parameters of every page and API route that is
read. Requests are real ones, captured from instrumentors and changed: bits, bytes, pieces of one in
another, ends cut off. Values are drawn by hypothesis. Each target runs for N seconds. What is wrong
may be refused by the errors that are meant for it; any other error is a crash, and a second of CPU
for one input is a hang (for pages, which are asked over HTTP, ten seconds of the clock).

The negative control is a reader with a planted fault, which the same inputs must find.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from bench.rig.options import size_parser
from bench.rig.processes import core_pid, cpu_seconds
from bench.rig.report import SAMPLES, bench_data, finish, progress
from collector.decode.otlp import Encoding, decode
from collector.decode.spans import decode_spans
from collector.record.build import records
from collector.refusal import Refused
from collector.settings import LimitSettings
from collector.spool import frames
from ragvigil.app.demo.child_daemon import ChildDaemon, running
from ragvigil.app.settings import SettingsError, load
from ragvigil.model.span import Closed, Signal, Trace
from ragvigil.web.pages.addresses import every_route
from ragvigil.web.parameters import query_names
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import application
from scorers.judge.reply_form import form_of
from scorers.rubric import load_rubrics
from scorers.runner import Runner, load_scorers

SEED = 21
SECONDS, SMALL_SECONDS = 60.0, 2.0
HANG_SECONDS = 1.0
ANSWER_SECONDS = 60.0
READ_AGAIN = 2
"""An input that took long is read so often again: a core has its jobs at some moments, and Python
collects garbage. What hangs, hangs each time."""
STORED_SECONDS = 300.0
MOST_BYTES = 200_000
EXAMPLES_AT_ONCE = 50
SALT = 0x5EED
OF_PAGES = ("service", "environment", "route", "since", "until", "clock", "done", "last")
"""What pages read of the query beside the parameters that they declare."""
TEXTS = st.text(max_size=60)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@dataclass(slots=True)
class Tally:
    """What a target made of its inputs. `clock` tells the CPU seconds of whoever reads them."""

    inputs: int = 0
    refused: int = 0
    longest_seconds: float = 0.0
    crashes: list[str] = field(default_factory=list)
    clock: Callable[[], float] = time.process_time

    def run(
        self, read: Callable[[], object], *meant: type[Exception], is_silent: bool = False
    ) -> None:
        """Reads one input; errors of the `meant` kinds are refusals, others crashes."""
        self.inputs += 1
        seconds = self._timed(read, meant, is_silent=is_silent)
        for _ in range(READ_AGAIN):
            if seconds > HANG_SECONDS:
                seconds = min(seconds, self._timed(read, meant, is_silent=True))
        self.longest_seconds = max(self.longest_seconds, seconds)

    def _timed(
        self, read: Callable[[], object], meant: tuple[type[Exception], ...], *, is_silent: bool
    ) -> float:
        began = self.clock()
        try:
            read()
        except meant:
            self.refused += 1
        except Exception as error:
            if len(self.crashes) < 5 and not is_silent:
                progress(f"crash: {type(error).__name__}: {str(error)[:300]}")
            self.crashes.append(type(error).__name__)
        seconds = self.clock() - began
        if seconds > HANG_SECONDS:
            progress(f"{seconds:.2f} s of CPU for input {self.inputs}")
        return seconds


def captured() -> list[bytes]:
    """Bodies of real requests in protobuf."""
    folder = bench_data()
    roots = [folder / "captures"] if folder else []
    files = [file for root in (*roots, SAMPLES / "otlp") for file in sorted(root.rglob("*.pb"))]
    return [body for file in files if len(body := file.read_bytes()) <= MOST_BYTES]


def changed(rng: random.Random, corpus: list[bytes]) -> bytes:
    """One of the corpus with one to eight changes."""
    body = bytearray(rng.choice(corpus))
    for _ in range(rng.randint(1, 8)):
        place = rng.randrange(len(body) + 1)
        kind = rng.randrange(6)
        if kind == 0 and body:
            body[place % len(body)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            body[place:place] = rng.randbytes(rng.randint(1, 16))
        elif kind == 2:
            del body[place : place + rng.randint(1, 64)]
        elif kind == 3:
            other = rng.choice(corpus)
            begin = rng.randrange(len(other) + 1)
            body[place:place] = other[begin : begin + rng.randint(1, 512)]
        elif kind == 4:
            body[place : place + 1] = b"\xff" * rng.randint(1, 10)
        elif body:
            del body[rng.randrange(len(body)) :]
    return bytes(body)


def until(seconds: float) -> Iterator[None]:
    """Once and again until the time is over."""
    end = time.monotonic() + seconds
    yield
    while time.monotonic() < end:
        yield


def drawn(strategy: st.SearchStrategy[Any], use: Callable[[Any], None], seed: int) -> None:
    """Gives EXAMPLES_AT_ONCE values of the strategy to `use`."""
    from hypothesis import seed as seeded

    @seeded(seed)
    @settings(
        max_examples=EXAMPLES_AT_ONCE,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def each(value: Any) -> None:
        use(value)

    each()


def decoders(tally: Tally, seconds: float, rng: random.Random) -> None:
    """Requests in protobuf and JSON, read on to scores."""
    corpus, limits, runner = captured(), LimitSettings(), Runner(load_scorers()).lean()

    def read(body: bytes, encoding: Encoding, signal: Signal) -> None:
        decoded = decode(body, encoding, signal, limits)
        decoded.payload()
        if signal is Signal.TRACES:
            spans = tuple(decode_spans(decoded.request)[:200])
            trace = Trace(trace_id="a", spans=spans, closed=Closed.ROOT_ENDED, received_unix_nano=1)
            for record in records(trace)[:4]:
                runner.score_all(record)

    for turn, _ in enumerate(until(seconds)):
        body = changed(rng, corpus)
        signal = Signal.LOGS if rng.random() < 0.2 else Signal.TRACES
        tally.run(lambda: read(body, Encoding.PROTOBUF, signal), Refused)  # noqa: B023
        if turn % 20 == 0:

            def as_json(value: Any) -> None:
                spans = {"resourceSpans": [{"scopeSpans": [{"spans": [value]}]}]}
                text = json.dumps(spans if rng.random() < 0.8 else value).encode()
                tally.run(lambda: read(text, Encoding.JSON, Signal.TRACES), Refused)

            drawn(VALUES, as_json, rng.randrange(2**32))


def spool(tally: Tally, seconds: float, rng: random.Random) -> None:
    """Frames of the spool, changed."""
    corpus = [
        frames.encode(
            frames.Frame(seq=seq, signal=Signal.TRACES, items=3, payload=body[:4000]), SALT
        )
        for seq, body in enumerate(captured(), 1)
    ]
    for _ in until(seconds):
        data = changed(rng, corpus)
        tally.run(lambda: frames.parse(data, SALT))  # noqa: B023


def settings_files(tally: Tally, seconds: float, rng: random.Random) -> None:
    """Settings files: the example files, changed, and drawn values under real keys."""
    root = Path(__file__).resolve().parents[1]
    corpus = [file.read_bytes() for file in sorted((root / "deploy/examples").glob("*.toml"))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ragvigil.toml"
        for _ in until(seconds):
            path.write_bytes(changed(rng, corpus))
            tally.run(lambda: load(path), SettingsError)


def judge_replies(tally: Tally, seconds: float, rng: random.Random) -> None:
    """Replies of a judge: whole forms with drawn values, and texts that are no JSON."""
    tables = [rubric.judge for rubric in load_rubrics().values() if rubric.judge is not None]
    names = ("claim_1", "claim_2")

    def use(value: Any) -> None:
        form = form_of(rng.choice(tables), rng.choice((names, ())))
        reply: Any = value
        if rng.random() < 0.7:
            verdicts = dict.fromkeys(names, value)
            reply = {"verdicts": verdicts, "failure_type": value, "failure_mode": "x"}
        text = json.dumps(reply)
        text = text if rng.random() < 0.7 else text[: rng.randrange(len(text) + 1)]
        tally.run(lambda: form.model_validate_json(text), ValidationError)

    for _ in until(seconds):
        drawn(VALUES, use, rng.randrange(2**32))


def pages(tally: Tally, seconds: float, rng: random.Random) -> None:
    """Parameters of every page and route that is read, asked of a daemon; 500 is a crash."""
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as daemon:
        paths = _parameters()
        strategy = st.tuples(
            st.sampled_from(sorted(paths)),
            st.integers(0, max(map(len, paths.values()))),
            st.lists(TEXTS | st.integers().map(str), min_size=8),
        )
        _fill(daemon)
        core = core_pid(daemon)
        tally.clock = lambda: cpu_seconds(core)
        with httpx2.Client(base_url=f"http://{daemon.web}", timeout=ANSWER_SECONDS) as client:

            def use(value: tuple[str, int, list[str]]) -> None:
                path, first, texts = value
                names = [*paths[path][first:], *paths[path][:first]]
                tally.run(lambda: _ask(client, tally, path, names, texts))

            for _ in until(seconds):
                drawn(strategy, use, rng.randrange(2**32))


def _fill(daemon: ChildDaemon) -> None:
    """Stores what instrumentors sent, so that pages have something to show."""
    media = {"content-type": "application/x-protobuf"}
    for body in captured():
        httpx2.post(f"http://{daemon.http}/v1/traces", content=body, headers=media, timeout=60)
    end = time.monotonic() + STORED_SECONDS
    while (spans := daemon.get("ledger")["spans"])["in_spool"] or not spans["stored"]:
        if time.monotonic() > end:
            raise TimeoutError(f"the captured requests are not stored: {spans}")
        time.sleep(0.5)


def _parameters() -> dict[str, list[str]]:
    """The parameters in the query of each page and API route that is read."""
    found: dict[str, list[str]] = {}
    for route in every_route(application(None, None, WebSettings())):  # type: ignore[arg-type]
        if "GET" in route.methods:
            more = () if route.include_in_schema else OF_PAGES
            found[route.path] = list(dict.fromkeys([*query_names(route.dependant), *more]))
    return found


def _ask(
    client: httpx2.Client, tally: Tally, path: str, names: list[str], texts: list[str]
) -> None:
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    place = path
    while "{" in place:
        head, _, rest = place.partition("{")
        place = head + quote(texts[len(head) % len(texts)] or "x", safe="") + rest.partition("}")[2]
    asked = dict(zip(names, texts, strict=False))
    status = client.get(place, params=asked, follow_redirects=False).status_code
    if status >= 500 and status != 503:
        raise AssertionError(f"{status} of {place} {asked}")
    tally.refused += status >= 400


def control(rng: random.Random) -> bool:
    """Whether changed requests find a reader that trusts a length."""
    corpus, tally = captured(), Tally()

    def trusting(data: bytes) -> int:
        return data[data[0]]

    for _ in range(2_000):
        data = changed(rng, corpus)
        tally.run(lambda: trusting(data), is_silent=True)  # noqa: B023
    return bool(tally.crashes)


TARGETS: dict[str, Callable[[Tally, float, random.Random], None]] = {
    "decoders": decoders,
    "spool": spool,
    "settings": settings_files,
    "judge replies": judge_replies,
    "pages": pages,
}


def main() -> None:
    parser = size_parser(__doc__)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", nargs="+", choices=list(TARGETS), default=list(TARGETS))
    options = parser.parse_args()
    seconds = options.seconds or (SMALL_SECONDS if options.small else SECONDS)
    tallies: dict[str, Tally] = {}
    for name in options.only:
        progress(f"{name} for {seconds:g} s")
        tallies[name] = Tally()
        TARGETS[name](tallies[name], seconds, random.Random(options.seed))
    figures: dict[str, object] = {
        name: {
            "inputs": tally.inputs,
            "refused": tally.refused,
            "crashes": len(tally.crashes),
            "longest_ms": round(tally.longest_seconds * 1e3),
        }
        for name, tally in tallies.items()
    }
    bars = {"no crash": not any(tally.crashes for tally in tallies.values())}
    bars["no hang"] = all(tally.longest_seconds <= HANG_SECONDS for tally in tallies.values())
    bars["control: a planted fault is found"] = control(random.Random(options.seed))
    finish("fuzz", figures, bars, seed=options.seed)


if __name__ == "__main__":
    main()
