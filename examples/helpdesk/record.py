"""Records the demo's traffic: `python -m examples.helpdesk.record` (about six minutes).

Writes OTLP request bodies as the exporter would send them, gzipped, in the form that
`ragvigil replay` reads: `requests/NNNN.pb.gz` and a line for each in `meta.jsonl`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Sequence
from pathlib import Path

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from examples.helpdesk.corpus import HERE, Question, load_questions
from examples.helpdesk.service import create_app, make_desk

RECORDINGS: dict[str, list[str]] = {
    "healthy": [],
    "fabricated_quotes": ["fabricated_quotes@/refunds/ask"],
}
FAULTY_ROUTE = "/refunds/ask"
TRACES_PER_REQUEST = 16
HEADERS = {"content-type": "application/x-protobuf"}


def record(switches: list[str], questions: Sequence[Question], folder: Path) -> int:
    """Asks every question once and writes what was exported; returns the bytes on disk."""
    from fastapi.testclient import TestClient

    exporter = InMemorySpanExporter()
    desk = make_desk(switches, exporter=exporter, sleep=time.sleep)
    (folder / "requests").mkdir(parents=True, exist_ok=True)
    for old in folder.glob("requests/*"):
        old.unlink()
    lines: list[dict[str, object]] = []
    with TestClient(create_app(desk), base_url="http://helpdesk:8099") as client:
        for start in range(0, len(questions), TRACES_PER_REQUEST):
            exporter.clear()
            for question in questions[start : start + TRACES_PER_REQUEST]:
                body = {"question": question.text, "language": question.language}
                client.post(question.route, json=body).raise_for_status()
            lines.append(_write(folder, len(lines) + 1, exporter.get_finished_spans()))
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "meta.jsonl").write_text(text, encoding="utf-8")
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _write(folder: Path, number: int, spans: Sequence[ReadableSpan]) -> dict[str, object]:
    body = encode_spans(spans).SerializeToString()
    name = f"requests/{number:04}.pb.gz"
    (folder / name).write_bytes(gzip.compress(body, compresslevel=9, mtime=0))
    return {
        "seq": number,
        "file": name,
        "received_unix_nano": time.time_ns(),
        "path": "/v1/traces",
        "headers": HEADERS,
    }


def main() -> None:
    """Records the healthy service on all routes, and the fault on one."""
    parser = argparse.ArgumentParser(description="Records the traffic of the demo.")
    parser.add_argument("--into", type=Path, default=HERE / "recorded")
    options = parser.parse_args()
    for name, switches in RECORDINGS.items():
        questions = load_questions()
        if switches:
            questions = tuple(q for q in questions if q.route == FAULTY_ROUTE)
        size = record(switches, questions, options.into / name)
        print(f"{name}: {len(questions)} traces, {size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
