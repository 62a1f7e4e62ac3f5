"""A server that speaks OpenAI's, Anthropic's and Bedrock's protocols, with faults on order.

    async with LlmServer(judge) as server:      # judge: the prompt's text -> the reply's text
        server.faults += [Fault(status=500), None, Fault(seconds=2.0)]
        ...                                     # base_url = server.openai or server.anthropic
        server.calls                            # what was asked, in order

    python -m tests.llm_server --seconds 0.2    # a process of its own; prints its address

The judge sees texts and never the faults; the faults see the number of a call and never its text.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from socket import SO_LINGER, SOL_SOCKET
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What happens to one call instead of the judge's reply, or on the way to it.

    With `refuses` only calls that ask for a reply in one of these forms meet it.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    code: str = "server_error"
    message: str = "a message that repeats the prompt"
    text: str | None = None
    body: bytes | None = None
    body_bytes: int = 0
    seconds: float = 0.0
    drip_seconds: float = 0.0
    is_reset: bool = False
    is_cut: bool = False
    is_refusal: bool = False
    is_truncated: bool = False
    is_without_usage: bool = False
    refuses: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Only what differs from a good reply: the name of a test."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        named = {name: value for name, value in given.items() if value != getattr(GOOD, name)}
        return " ".join(f"{name}={str(value)[:40]}" for name, value in named.items())


GOOD = Fault()


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request as it came."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def form(self) -> str:
        """How the reply's form is asked for in OpenAI's protocol."""
        asked: str = self.body.get("response_format", {}).get("type", "text")
        return asked

    @property
    def prompt(self) -> str:
        """The texts of all messages, whatever the protocol."""
        contents = [message["content"] for message in self.body["messages"]]
        parts = [
            [{"text": content}] if isinstance(content, str) else content for content in contents
        ]
        return "\n".join(part["text"] for content in parts for part in content)


class LlmServer:
    """Listens on a free port while it is entered; see the module's text."""

    def __init__(self, judge: Callable[[str], str], *, seconds: float = 0.0, port: int = 0) -> None:
        self.judge = judge
        self.faults: list[Fault | None] = []
        self.every: Fault | None = None
        self.calls: list[Call] = []
        self.bytes_sent = 0
        self.tokens = 0
        self._seconds = seconds
        self._port = port
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> LlmServer:
        self._server = await asyncio.start_server(self._entered, "127.0.0.1", self._port)
        self.anthropic = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        self.openai = f"{self.anthropic}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _entered(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with contextlib.suppress(OSError, EOFError, asyncio.CancelledError):
                while await self._served(reader, writer):
                    continue
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answers one request; whether the connection stays."""
        call = await _read(reader)
        self.calls.append(call)
        fault = (self.faults.pop(0) if self.faults else self.every) or Fault()
        if fault.refuses and call.form not in fault.refuses:
            fault = Fault()
        await asyncio.sleep(fault.seconds or self._seconds)
        if fault.is_reset:
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, linger)
            writer.transport.abort()
            return False
        body = self._body(call, fault)
        length = fault.body_bytes or len(body) + (100 if fault.is_cut else 0)
        await self._write(writer, _head(fault, length))
        if fault.drip_seconds:
            for position in range(len(body)):
                await self._write(writer, body[position : position + 1])
                await asyncio.sleep(fault.drip_seconds)
        else:
            await self._write(writer, body)
        for _ in range(len(body), fault.body_bytes, 1 << 16):
            await self._write(writer, b" " * (1 << 16))
        return not (fault.is_cut or fault.body_bytes)

    async def _write(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        writer.write(data)
        await writer.drain()
        self.bytes_sent += len(data)

    def _body(self, call: Call, fault: Fault) -> bytes:
        if fault.body is not None:
            return fault.body
        form = FORMS[call.path.rsplit("/", 1)[-1]]
        if fault.status != 200:
            return json.dumps(_error(fault)).encode()
        text = self.judge(call.prompt) if fault.text is None else fault.text
        used = (len(call.prompt) // 4 + 1, len(text) // 4 + 1)
        self.tokens += sum(used)
        return json.dumps(form(call, text, used, fault)).encode()


@contextlib.contextmanager
def serving(judge: Callable[[str], str]) -> Iterator[LlmServer]:
    """The server in a thread with a loop of its own, for tests that block."""
    made = LlmServer(judge)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(made.__aenter__(), loop).result(10)
        yield made
        asyncio.run_coroutine_threadsafe(made.__aexit__(None, None, None), loop).result(10)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


async def _read(reader: asyncio.StreamReader) -> Call:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {
        name.lower(): value.strip()
        for name, _, value in (line.partition(":") for line in lines[1:] if line)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Call(path=lines[0].split()[1].split("?")[0], headers=headers, body=json.loads(body))


def _head(fault: Fault, length: int) -> bytes:
    headers = {"content-type": "application/json", "content-length": str(length)}
    lines = [f"{name}: {value}" for name, value in (headers | dict(fault.headers)).items() if value]
    return "\r\n".join([f"HTTP/1.1 {fault.status} X", *lines, "", ""]).encode()


def _error(fault: Fault) -> dict[str, Any]:
    """One body that both protocols read as an error."""
    error = {"message": fault.message, "type": fault.code, "code": fault.code}
    return {"type": "error", "error": error}


def _openai(call: Call, text: str, used: tuple[int, int], fault: Fault) -> dict[str, Any]:
    ended = "length" if fault.is_truncated else "stop"
    said = {"content": None, "refusal": "I cannot."} if fault.is_refusal else {"content": text}
    usage = {"prompt_tokens": used[0], "completion_tokens": used[1], "total_tokens": sum(used)}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": call.body["model"],
        "choices": [{"index": 0, "message": {"role": "assistant", **said}, "finish_reason": ended}],
    } | ({} if fault.is_without_usage else {"usage": usage})


def _anthropic(call: Call, text: str, used: tuple[int, int], fault: Fault) -> dict[str, Any]:
    ended = "max_tokens" if fault.is_truncated else "end_turn"
    content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    if call.body.get("tools") and not fault.is_truncated:
        name = call.body["tools"][0]["name"]
        with contextlib.suppress(ValueError):
            content = [{"type": "tool_use", "id": "t1", "name": name, "input": json.loads(text)}]
            ended = "tool_use"
    zero = fault.is_without_usage
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": call.body["model"],
        "content": [] if fault.is_refusal else content,
        "stop_reason": "refusal" if fault.is_refusal else ended,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 0 if zero else used[0],
            "output_tokens": 0 if zero else used[1],
        },
    }


def _bedrock(call: Call, text: str, used: tuple[int, int], fault: Fault) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"text": text}]
    if call.body.get("toolConfig"):
        name = call.body["toolConfig"]["tools"][0]["toolSpec"]["name"]
        content = [{"toolUse": {"toolUseId": "t1", "name": name, "input": json.loads(text)}}]
    usage = {"inputTokens": used[0], "outputTokens": used[1], "totalTokens": sum(used)}
    return {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": "content_filtered" if fault.is_refusal else "end_turn",
        "usage": usage,
        "metrics": {"latencyMs": 1},
    }


FORMS = {"completions": _openai, "messages": _anthropic, "converse": _bedrock}
"""By the last part of a path, the protocol of the reply."""


async def _serve(arguments: argparse.Namespace) -> None:
    async with LlmServer(lambda _: arguments.reply, seconds=arguments.seconds) as server:
        print(server.anthropic, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A stand-in for a language model.")
    parser.add_argument("--seconds", type=float, default=0.2, help="time of a reply")
    parser.add_argument("--reply", default='{"score": 1.0}', help="what every reply says")
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(parser.parse_args()))
