"""The line between intake and core: questions and answers over one socket pair.

The intake asks (`metrics`, `status`), the core answers. The end of the line is news too: a core
whose intake is gone stops, an intake whose core is gone starts another.
"""

from __future__ import annotations

import asyncio
import itertools
import socket
from collections.abc import Callable, Mapping

HEADER_BYTES = 12  # question number (8) and length of what follows (4)


def _header(number: int, length: int) -> bytes:
    return number.to_bytes(8, "big") + length.to_bytes(4, "big")


def _read_header(header: bytes) -> tuple[int, int]:
    return int.from_bytes(header[:8], "big"), int.from_bytes(header[8:], "big")


class Questions:
    """The intake's end. `ask` returns None where the core is silent or gone."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self._numbers = itertools.count(1)
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def over(cls, line: socket.socket) -> Questions:
        """Takes the intake's end of the socket pair."""
        reader, writer = await asyncio.open_connection(sock=line)
        return cls(reader, writer)

    async def ask(self, question: str, timeout_seconds: float = 5.0) -> bytes | None:
        """The core's answer, or None after `timeout_seconds` or when the line is down."""
        if self._listening.done():
            return None
        number = next(self._numbers)
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        body = question.encode()
        try:
            self._writer.write(_header(number, len(body)) + body)
            return await asyncio.wait_for(answer, timeout_seconds)
        except (TimeoutError, ConnectionError, asyncio.CancelledError):
            return None
        finally:
            self._waiting.pop(number, None)

    async def close(self) -> None:
        """Hangs up, which tells a living core to stop."""
        self._listening.cancel()
        self._writer.close()
        await asyncio.gather(self._listening, return_exceptions=True)

    async def _listen(self) -> None:
        try:
            while True:
                number, length = _read_header(await self._reader.readexactly(HEADER_BYTES))
                body = await self._reader.readexactly(length)
                answer = self._waiting.get(number)
                if answer is not None and not answer.done():
                    answer.set_result(body)
        except (asyncio.IncompleteReadError, ConnectionError):
            for answer in self._waiting.values():
                answer.cancel()


def serve_answers(line: socket.socket, answers: Mapping[str, Callable[[], bytes]]) -> None:
    """The core's end: answers until the intake hangs up, then returns.

    An unknown question is answered with nothing. Blocks; run it in a thread.
    """
    while True:
        header = _receive(line, HEADER_BYTES)
        if header is None:
            return
        number, length = _read_header(header)
        question = _receive(line, length)
        if question is None:
            return
        answer = answers.get(question.decode(), bytes)()
        try:
            line.sendall(_header(number, len(answer)) + answer)
        except ConnectionError:
            return


def _receive(line: socket.socket, length: int) -> bytes | None:
    received = bytearray()
    while len(received) < length:
        try:
            part = line.recv(length - len(received))
        except ConnectionError:
            return None
        if not part:
            return None
        received += part
    return bytes(received)
