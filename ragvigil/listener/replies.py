"""What a client is told that speaks another protocol than HTTP/1.1, in its own where it can be."""

from __future__ import annotations

import struct
from urllib.parse import quote

_PREFACE_BYTES = 24
_HEAD = struct.Struct(">I")
_SETTINGS, _HEADERS, _GOAWAY = 4, 1, 7
_ENDS = 0x1 | 0x4  # END_STREAM, END_HEADERS
UNIMPLEMENTED = b"12"
MOST_BYTES = 64 << 10


def bad_request(sentence: str) -> bytes:
    """An HTTP/1.1 reply; a client that began with TLS shows at least that this is none."""
    body = f"{sentence}\n".encode()
    head = (
        "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\n"
        f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body


class PlainRefusal:
    """Answers whatever comes with an HTTP/1.1 reply."""

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence
        self.is_over = False

    def receive(self, _data: bytes) -> bytes:
        """What to send after these bytes of the client: the reply, once."""
        if self.is_over:
            return b""
        self.is_over = True
        return bad_request(self._sentence)


class GrpcRefusal:
    """Answers the first call of a gRPC connection UNIMPLEMENTED, with a sentence.

    A gRPC client shows neither an HTTP/1.1 reply nor a connection that just closes. RFC 9113 has
    the frames; the reply's fields are literals without an index (RFC 7541, 6.2.2).
    """

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence
        self._received = b""
        self.is_over = False

    def receive(self, data: bytes) -> bytes:
        """What to send after these bytes of the client: its call is answered when it has come."""
        if self.is_over:
            return b""
        is_first = not self._received
        self._received += data
        reply = _frame(_SETTINGS) if is_first else b""  # with which a server begins
        stream = self._first_call()
        if stream is None and len(self._received) < MOST_BYTES:
            return reply
        self.is_over = True
        goaway = struct.pack(">II", stream or 0, 0) + self._sentence.encode()
        if stream is not None:
            reply += _frame(_HEADERS, self._trailers(), _ENDS, stream)
        return reply + _frame(_GOAWAY, goaway)

    def _trailers(self) -> bytes:
        message = quote(self._sentence, safe=" !\"#$&'()*+,/:;<=>?@[]").encode()
        fields = (
            (b"content-type", b"application/grpc"),
            (b"grpc-status", UNIMPLEMENTED),
            (b"grpc-message", message),
        )
        status_200 = b"\x88"
        return status_200 + b"".join(b"\0" + _text(name) + _text(value) for name, value in fields)

    def _first_call(self) -> int | None:
        """The stream of the first HEADERS frame; None before it came."""
        at = _PREFACE_BYTES
        while len(self._received) >= at + 9:
            size = _HEAD.unpack(b"\0" + self._received[at : at + 3])[0]
            if self._received[at + 3] == _HEADERS:
                return int(_HEAD.unpack(self._received[at + 5 : at + 9])[0])
            at += 9 + size
        return None


def _frame(kind: int, payload: bytes = b"", flags: int = 0, stream: int = 0) -> bytes:
    size = _HEAD.pack(len(payload))[1:]
    return size + bytes((kind, flags)) + _HEAD.pack(stream) + payload


def _text(value: bytes) -> bytes:
    """A string literal of HPACK; its length has a prefix of 7 bits."""
    if len(value) < 127:
        return bytes((len(value),)) + value
    rest, length = len(value) - 127, bytearray((127,))
    while rest >= 128:
        length.append(rest % 128 + 128)
        rest //= 128
    return bytes(length) + bytes((rest,)) + value
