"""Made-up secrets in the form of real ones, and requests that carry each in another place."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
URLSAFE = ALNUM + "-_"

# Prefix, alphabet, length, suffix of keys whose form tells them.
FORMS = (
    ("AKIA", UPPER, 16, ""), ("ASIA", UPPER, 16, ""), ("AIza", URLSAFE, 35, ""),
    ("ya29.", URLSAFE, 60, ""), ("GOCSPX-", URLSAFE, 28, ""), ("LTAI", ALNUM, 20, ""),
    ("dop_v1_", HEX, 64, ""), ("dapi", HEX, 32, ""), ("sk-", ALNUM, 48, ""),
    ("sk-proj-", ALNUM, 74, ""), ("sk-ant-api03-", ALNUM, 93, "AA"), ("sk-or-v1-", HEX, 64, ""),
    ("hf_", ALNUM, 34, ""), ("gsk_", ALNUM, 52, ""), ("r8_", ALNUM, 37, ""),
    ("pplx-", ALNUM, 48, ""), ("xai-", ALNUM, 80, ""), ("nvapi-", URLSAFE, 64, ""),
    ("tvly-", ALNUM, 32, ""), ("pcsk_", ALNUM, 64, ""), ("pa-", ALNUM, 43, ""),
    ("llx-", ALNUM, 48, ""), ("ghp_", ALNUM, 36, ""), ("gho_", ALNUM, 36, ""),
    ("github_pat_", ALNUM, 82, ""), ("glpat-", URLSAFE, 20, ""),
    ("xoxb-", "0123456789", 12, "-a1B2c3D4e5F6"),
    ("sk_live_", ALNUM, 24, ""), ("rk_live_", ALNUM, 24, ""), ("SK", HEX, 32, ""),
    ("key-", HEX, 32, ""), ("npm_", ALNUM, 36, ""), ("pypi-AgEIcHlwaS5vcmc", URLSAFE, 90, ""),
    ("shpat_", HEX, 32, ""), ("hvs.", ALNUM, 90, ""), ("NRAK-", UPPER, 27, ""),
    ("glsa_", ALNUM, 32, "_0a1b2c3d"), ("lin_api_", ALNUM, 40, ""), ("ntn_", ALNUM, 46, ""),
    ("figd_", URLSAFE, 40, ""), ("dckr_pat_", ALNUM, 27, ""), ("sq0atp-", ALNUM, 22, ""),
)  # fmt: skip


def secrets(count: int, rng: random.Random) -> list[tuple[str, str]]:
    """`count` pairs of the secret itself and a text that says it."""
    makers: list[Callable[[random.Random], tuple[str, str]]] = [
        *(lambda r, form=form: _formed(r, form) for form in FORMS),
        _jwt, _private_key, _password, _bearer, _url, _aws_secret, _card, _storage,
    ]  # fmt: skip
    return [makers[number % len(makers)](rng) for number in range(count)]


def _draw(rng: random.Random, alphabet: str, length: int) -> str:
    """Random signs, the first a letter and one a digit, as in nearly every real key."""
    signs = rng.choices([sign for sign in alphabet if sign not in "-_"], k=length)
    signs[length // 2] = rng.choice("23456789")
    return "".join(signs)


def _formed(rng: random.Random, form: tuple[str, str, int, str]) -> tuple[str, str]:
    prefix, alphabet, length, suffix = form
    secret = prefix + _draw(rng, alphabet, length) + suffix
    return secret, rng.choice(["my key is {}.", "{}", "export KEY={}", "use '{}' please"]).format(
        secret
    )


def _jwt(rng: random.Random) -> tuple[str, str]:
    def part(value: dict[str, object]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    claims = {"sub": _draw(rng, HEX, 12), "iat": rng.randrange(10**9)}
    token = f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part(claims)}.{_draw(rng, URLSAFE, 43)}"
    return token, f"the cookie holds {token}"


def _private_key(rng: random.Random) -> tuple[str, str]:
    lines = [_draw(rng, ALNUM + "+/", 64) for _ in range(5)]
    text = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *lines, "-----END RSA PRIVATE KEY-----"])
    return lines[2], f"here:\n{text}\nthanks"


def _password(rng: random.Random) -> tuple[str, str]:
    secret = _draw(rng, ALNUM, 12)
    forms = ("password={}", "DB_PASSWORD: {}", '{{"password": "{}"}}', "Password='{}'", "pwd={};")
    return secret, rng.choice(forms).format(secret)


def _bearer(rng: random.Random) -> tuple[str, str]:
    secret = _draw(rng, ALNUM, 40)
    return secret, f"curl -H 'Authorization: Bearer {secret}' https://api.example.org"


def _url(rng: random.Random) -> tuple[str, str]:
    secret = _draw(rng, ALNUM, 16)
    return secret, f"postgresql://app:{secret}@db.example.org:5432/shop"


def _aws_secret(rng: random.Random) -> tuple[str, str]:
    secret = _draw(rng, ALNUM + "+/", 40)
    return secret, f"aws_secret_access_key = {secret}"


def _storage(rng: random.Random) -> tuple[str, str]:
    secret = _draw(rng, ALNUM + "+/", 86) + "=="
    return secret, f"DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={secret};"


def _card(rng: random.Random) -> tuple[str, str]:
    digits = [4, *(rng.randrange(10) for _ in range(14))]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[::2]]
    digits.append(-(sum(doubled) + sum(digits[1::2])) % 10)
    number = "".join(map(str, digits))
    secret = " ".join(number[place : place + 4] for place in range(0, 16, 4))
    return secret, f"Please charge {secret} for it"


def spans_request(texts: list[str]) -> ExportTraceServiceRequest:
    """A span a text, each text in another place of its span."""
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    resource.resource.attributes.add(key="service.name").value.string_value = "helpdesk"
    scope = resource.scope_spans.add()
    for number, text in enumerate(texts):
        span = scope.spans.add(trace_id=bytes([7] * 16), span_id=(number + 1).to_bytes(8, "big"))
        span.start_time_unix_nano = 1_700_000_000_000_000_000 + number
        SPAN_PLACES[number % len(SPAN_PLACES)](span, text)
    return request


def _attribute(span: Span, text: str) -> None:
    span.attributes.add(key="input.value").value.string_value = text


def _json_attribute(span: Span, text: str) -> None:
    inner = json.dumps({"role": "user", "content": text})
    span.attributes.add(key="input.value").value.string_value = json.dumps({"messages": [inner]})


def _nested(span: Span, text: str) -> None:
    value = span.attributes.add(key="gen_ai.input.messages").value
    pair = value.array_value.values.add().kvlist_value.values.add(key="content")
    pair.value.array_value.values.add().string_value = text


def _bytes(span: Span, text: str) -> None:
    span.attributes.add(key="body").value.bytes_value = text.encode()


def _name(span: Span, text: str) -> None:
    span.name = text


def _status(span: Span, text: str) -> None:
    span.status.message = f"call failed: {text}"


def _event(span: Span, text: str) -> None:
    event = span.events.add(name="gen_ai.user.message")
    event.attributes.add(key="content").value.string_value = text


def _link(span: Span, text: str) -> None:
    link = span.links.add(trace_id=bytes([8] * 16), span_id=bytes([8] * 8))
    link.attributes.add(key="why").value.string_value = text


def _state(span: Span, text: str) -> None:
    span.trace_state = f"vendor={text}"


SPAN_PLACES = (
    _attribute, _json_attribute, _nested, _bytes, _name, _status, _event, _link, _state,
)  # fmt: skip


def logs_request(texts: list[str]) -> ExportLogsServiceRequest:
    """A log record a text, in its body, its attributes or its event's name."""
    request = ExportLogsServiceRequest()
    scope = request.resource_logs.add().scope_logs.add()
    for number, text in enumerate(texts):
        record = scope.log_records.add(trace_id=bytes([7] * 16), time_unix_nano=number + 1)
        record.span_id = (number + 1).to_bytes(8, "big")
        LOG_PLACES[number % len(LOG_PLACES)](record, text)
    return request


def _body(record: LogRecord, text: str) -> None:
    record.body.string_value = text


def _body_map(record: LogRecord, text: str) -> None:
    record.body.kvlist_value.values.add(key="content").value.string_value = text


def _body_json(record: LogRecord, text: str) -> None:
    record.body.string_value = json.dumps([{"content": text}])


def _log_attribute(record: LogRecord, text: str) -> None:
    record.attributes.add(key="exception.message").value.string_value = text


LOG_PLACES = (_body, _body_map, _body_json, _log_attribute)
