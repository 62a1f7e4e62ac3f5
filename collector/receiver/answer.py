"""What clients receive: responses and google.rpc.Status, in protobuf and JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson
from google.protobuf.any_pb2 import Any as Packed
from google.rpc.error_details_pb2 import BadRequest, RetryInfo
from google.rpc.status_pb2 import Status

from collector.decode.otlp import Encoding
from collector.decode.shape import Shape
from collector.refusal import Refusal, Refused

MAX_MESSAGE_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Codes:
    """A refusal's HTTP status and gRPC status code."""

    http: int
    grpc: int


CODES = {
    Refusal.MALFORMED: Codes(http=400, grpc=3),
    Refusal.SLOW: Codes(http=408, grpc=4),
    Refusal.PATH: Codes(http=404, grpc=5),
    Refusal.FORBIDDEN: Codes(http=403, grpc=7),
    Refusal.HOST: Codes(http=421, grpc=7),
    Refusal.TOO_LARGE: Codes(http=413, grpc=8),
    Refusal.METHOD: Codes(http=405, grpc=12),
    Refusal.MEDIA_TYPE: Codes(http=415, grpc=3),
    # 503, not 429: Python's exporter drops the batch on 429 and on RESOURCE_EXHAUSTED.
    Refusal.RATE: Codes(http=503, grpc=14),
    Refusal.OVERLOADED: Codes(http=503, grpc=14),
    Refusal.SPOOL_FULL: Codes(http=503, grpc=14),
    Refusal.SPOOL_FAILED: Codes(http=503, grpc=14),
    Refusal.DISK_RESERVE: Codes(http=503, grpc=14),
    Refusal.STOPPING: Codes(http=503, grpc=14),
    Refusal.UNAUTHENTICATED: Codes(http=401, grpc=16),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledgement:
    """An accepted request: how many of its items were rejected, and the reasons in words."""

    shape: Shape | None
    rejected: int = 0
    message: str = ""

    def encode(self, encoding: Encoding) -> bytes:
        """The body of the response."""
        if self.shape is None or not (self.rejected or self.message):
            # OTLP: partial_success is unset when everything was accepted.
            return b"" if encoding is Encoding.PROTOBUF else b"{}"
        if encoding is Encoding.JSON:
            counted = {_camel(self.shape.rejected_field): str(self.rejected)}
            return orjson.dumps({"partialSuccess": {**counted, "errorMessage": self.message}})
        response = self.shape.response()
        setattr(response.partial_success, self.shape.rejected_field, self.rejected)
        response.partial_success.error_message = self.message
        return bytes(response.SerializeToString())


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def retry_info(refused: Refused) -> bytes:
    """A serialised google.rpc.RetryInfo; empty if the client should not retry."""
    if not refused.retry_seconds:
        return b""
    info = RetryInfo()
    info.retry_delay.seconds = refused.retry_seconds
    return bytes(info.SerializeToString())


def status(refused: Refused) -> bytes:
    """A serialised google.rpc.Status."""
    message = str(refused)[:MAX_MESSAGE_CHARACTERS]
    result = Status(code=CODES[refused.reason].grpc, message=message)
    result.details.extend(_packed(detail) for detail in _details(refused, message))
    return bytes(result.SerializeToString())


def status_json(refused: Refused) -> bytes:
    """A google.rpc.Status in JSON."""
    message = str(refused)[:MAX_MESSAGE_CHARACTERS]
    details: list[dict[str, Any]] = []
    if refused.retry_seconds:
        details = [{"@type": _type(RetryInfo), "retryDelay": f"{refused.retry_seconds}s"}]
    elif refused.reason is Refusal.MALFORMED:
        violation = {"field": "body", "description": message}
        details = [{"@type": _type(BadRequest), "fieldViolations": [violation]}]
    body = {"code": CODES[refused.reason].grpc, "message": message, "details": details}
    return orjson.dumps(body)


def _details(refused: Refused, message: str) -> list[Any]:
    if refused.retry_seconds:
        info = RetryInfo()
        info.retry_delay.seconds = refused.retry_seconds
        return [info]
    if refused.reason is Refusal.MALFORMED:
        violation = BadRequest.FieldViolation(field="body", description=message)
        return [BadRequest(field_violations=[violation])]
    return []


def _packed(detail: Any) -> Packed:
    packed = Packed()
    packed.Pack(detail)
    return packed


def _type(message: Any) -> str:
    return f"type.googleapis.com/{message.DESCRIPTOR.full_name}"
