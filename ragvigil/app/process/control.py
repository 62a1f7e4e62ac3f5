"""Questions of the intake and answers of the core, over one socket pair.

The intake asks for `metrics` or `status`, the core answers. Each side learns from the end of the
stream that the other is gone: a core without its intake stops, an intake without its core starts
another. Frames are those of `ragvigil.model.wire`: a question is `{"number", "question"}`, an
answer is `{"number"}` and the body.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import socket
from collections.abc import Callable, Mapping

from ragvigil.model.wire import BadFrame, pack, reader_of, unpack, unpack_from

LAST_WORDS = 0
"""The number of the one frame that answers no question."""


class Questions:
    """The intake's end. Belongs to one event loop.

    `last_words` is the sentence of a core that cannot start, else empty.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        # Numbers match answers to questions: an answer that comes after its question's timeout
        # must not answer the next question.
        self._numbers = itertools.count(1)
        self.last_words = ""
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def over(cls, channel: socket.socket) -> Questions:
        """Takes the intake's end of the socket pair."""
        reader, writer = await asyncio.open_connection(sock=channel)
        return cls(reader, writer)

    async def ask(self, question: str, timeout_seconds: float = 5.0) -> bytes | None:
        """The core's answer; None after `timeout_seconds`, or when the core is gone."""
        if self._listening.done():
            return None
        number = next(self._numbers)
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            self._writer.write(pack({"number": number, "question": question}))
            return await asyncio.wait_for(answer, timeout_seconds)
        except (TimeoutError, ConnectionError, asyncio.CancelledError):
            return None
        finally:
            self._waiting.pop(number, None)

    async def heard_last_words(self) -> str:
        """`last_words`, once everything that the ended core sent was read."""
        await asyncio.wait([self._listening], timeout=1.0)
        return self.last_words

    async def close(self) -> None:
        """Closes the channel, which tells a living core to stop."""
        self._listening.cancel()
        self._writer.close()
        await asyncio.gather(self._listening, return_exceptions=True)

    async def _listen(self) -> None:
        try:
            while True:
                head, body = await unpack_from(self._reader)
                if head["number"] == LAST_WORDS:
                    self.last_words = body.decode()
                answer = self._waiting.get(head["number"])
                if answer is not None and not answer.done():
                    answer.set_result(body)
        except (asyncio.IncompleteReadError, ConnectionError, BadFrame):
            for answer in self._waiting.values():
                answer.cancel()


def say_last_words(channel: socket.socket, sentence: str) -> None:
    """The core's end: tells the intake why the core cannot start."""
    with contextlib.suppress(ConnectionError):  # the intake has gone as well
        channel.sendall(pack({"number": LAST_WORDS}, sentence.encode()))


def serve_answers(channel: socket.socket, answers: Mapping[str, Callable[[], bytes]]) -> None:
    """The core's end: answers until the intake closes the channel, then returns.

    An unknown question gets an empty answer. Blocks; run it in a thread.
    """
    with channel.makefile("rb") as stream:
        read = reader_of(stream)
        while True:
            try:
                head, _ = unpack(read)
            except (EOFError, OSError, BadFrame):
                return
            body = answers.get(head["question"], bytes)()
            try:
                channel.sendall(pack({"number": head["number"]}, body))
            except ConnectionError:
                return
