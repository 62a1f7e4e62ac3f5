"""A language model that speaks OpenAI's chat protocol over HTTP and keeps every prompt it got.

Its answers are extracts: the sentence that differs in the first passage, and that passage's marker.
Words of the question ask for something else: nothing, a failure, a refusal, two passages.
Run: `python model_stub.py PORT LOG`.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SENTENCE = re.compile(r"(?<=general terms\.)\s*(?:\\n)?\s*(A [^\n\\]*?\.)(?=\s|\\n)")
LABEL = re.compile(
    r'\[([\w-]+)\] Parcelo|Passage (\d+): Parcelo|<document index="(\d+)"|"id": "(faq-\d+)"'
)
WRITING = threading.Lock()


def reply_to(prompt: str) -> str | None:
    """The text of the answer; None where the call fails."""
    question = prompt.rpartition("Ticket ")[2]
    if "Fail." in question:
        return None
    if "Say nothing." in question:
        return ""
    sentences = SENTENCE.findall(prompt)
    if "Refuse." in question or not sentences:
        return "I cannot answer this from the articles that I have."
    labels = ["".join(groups) for groups in LABEL.findall(prompt)]
    most = 2 if "Both." in question else 1
    texts = []
    for place, sentence in enumerate(sentences[:most]):
        marker = f" [{labels[place]}]" if place < len(labels) else ""
        texts.append(sentence.removesuffix(".") + marker + ".")
    return " ".join(texts)


class Handler(BaseHTTPRequestHandler):
    """`POST /v1/chat/completions`, streamed or not."""

    protocol_version = "HTTP/1.1"
    log_path: Path

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        prompt = _text(asked["messages"][-1]["content"])
        text = reply_to(prompt)
        used = {
            "prompt_tokens": len(prompt.split()),
            "completion_tokens": len((text or "").split()),
        }
        used["total_tokens"] = sum(used.values())
        row = {"prompt": prompt, "answer": text, "usage": used}
        with WRITING, self.log_path.open("a", encoding="utf-8") as log:
            log.write(json.dumps(row) + "\n")
        if text is None:
            self._send(500, "application/json", b'{"error": {"message": "the model is down"}}')
        elif asked.get("stream"):
            self._stream(asked, text, used)
        else:
            choice = {"index": 0, "finish_reason": "stop",
                      "message": {"role": "assistant", "content": text}}  # fmt: skip
            body = _envelope(asked, "chat.completion", [choice]) | {"usage": used}
            self._send(200, "application/json", json.dumps(body).encode())

    def _stream(self, asked: dict[str, Any], text: str, used: dict[str, int]) -> None:
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": piece} for piece in re.findall(r"\S+\s*|\s+", text)]
        events = [
            _envelope(asked, "chat.completion.chunk", [
                {"index": 0, "delta": delta, "finish_reason": None}])
            for delta in deltas
        ]  # fmt: skip
        last = [{"index": 0, "delta": {}, "finish_reason": "stop"}]
        events.append(_envelope(asked, "chat.completion.chunk", last))
        if (asked.get("stream_options") or {}).get("include_usage"):
            events.append(_envelope(asked, "chat.completion.chunk", []) | {"usage": used})
        lines = [f"data: {json.dumps(event)}\n\n" for event in events] + ["data: [DONE]\n\n"]
        self._send(200, "text/event-stream", "".join(lines).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: the log holds the prompts."""


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or ())


def _envelope(asked: dict[str, Any], kind: str, choices: list[Any]) -> dict[str, Any]:
    return {"id": f"chatcmpl-{time.time_ns()}", "object": kind, "created": int(time.time()),
            "model": asked["model"], "choices": choices}  # fmt: skip


if __name__ == "__main__":
    Handler.log_path = Path(sys.argv[2])
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
