"""Redaction: secrets go wherever they stand, ordinary numbers and ids stay as they are."""

from __future__ import annotations

import json
import random
import stat
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.decode.otlp import Encoding, decode
from collector.redaction.redact import Redactor, installation_key
from collector.redaction.settings import RedactSettings
from collector.refusal import Refused
from collector.settings import LimitSettings
from ragvigil.model.span import Signal
from tests.otlp import log_request, spans_of, trace_request, with_broken_text

KEY = b"k" * 32
SECRET = "sk-" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA"
REDACTOR = Redactor(RedactSettings(), key=KEY)


def redacted(text: str, **settings: Any) -> str:
    """`text` after it went through a request as an attribute."""
    redactor = Redactor(RedactSettings.model_validate(settings), key=KEY) if settings else REDACTOR
    request = trace_request(1, text=text)
    if redactor.finds(request.SerializeToString()):
        redactor.redact(request)
    return str(spans_of(request)[0].attributes[0].value.string_value)


SECRETS = {
    "aws": "AKIA2E0A8F3B244C9986",
    "openai": "sk-proj-" + "Zk3" * 20,
    "anthropic": "sk-ant-api03-" + "xY7_" * 23 + "AA",
    "google": "AIza" + "Sy7-Qx_" * 5,
    "github": "ghp_" + "a1B2c3" * 6,
    "github fine-grained": "github_pat_" + "11AAB2C3" * 10,
    "slack": "xoxb-123456789012-abcDEF123456",
    "stripe": "sk_live_" + "4eC39HqLyjWDarjt",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    "huggingface": "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz12345678",
    "card": "4111 1111 1111 1111",
    "card without gaps": "5555555555554444",
    "amex": "378282246310005",
}


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize(
    "sentence", ["{}", "use {}, please", 'key="{}"', r"first line\n{}\tend", "<{}>", "x:{} y"]
)
def test_a_secret_goes_and_the_words_around_it_stay(kind: str, sentence: str) -> None:
    secret = SECRETS[kind]
    after = redacted(sentence.format(secret))
    assert secret not in after
    before, _, rest = sentence.partition("{}")
    assert after.startswith(before)
    assert after.endswith(rest)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password=hunter22", "hunter22"),
        ("PASSWORD: hunter2!x", "hunter2!x"),
        ('{"api_key": "abcdef123456"}', "abcdef123456"),
        (r"{\"client_secret\": \"abcdef123456\"}", "abcdef123456"),
        ("postgres://app:s3cr3tpw@db:5432/x", "s3cr3tpw"),
        ("Authorization: Bearer abcdef1234567890xyz", "abcdef1234567890xyz"),
        ("Authorization: Basic dXNlcjpzZXNhbWU=", "dXNlcjpzZXNhbWU="),
        ("OPENAI_API_KEY=abcdef0123456789", "abcdef0123456789"),
        ("https://x.org/f?sig=abcDEF123%2Babcdef%3D&x=1", "abcDEF123%2Babcdef%3D"),
        ("AccountKey=ab12+/cd34ef56==;Suffix=x", "ab12+/cd34ef56=="),
        ("aws_secret_access_key = wJalr/UtnFEMI7MDENGbPxRfiCY", "wJalr/UtnFEMI7MDENGbPxRfiCY"),
        (r"password\u003dhunter22\u0026x", "hunter22"),
    ],
)
def test_a_secret_known_by_its_name_goes(text: str, secret: str) -> None:
    assert secret not in redacted(text)


@pytest.mark.parametrize("label", ["RSA ", "EC ", "OPENSSH ", "", "ENCRYPTED "])
def test_private_keys_go_whole_even_when_cut(label: str) -> None:
    lines = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"] * 3
    whole = "\n".join([f"-----BEGIN {label}PRIVATE KEY-----", *lines])
    for text in (f"{whole}\n-----END {label}PRIVATE KEY-----", whole):
        for written in (text, json.dumps({"key": text})):
            assert "MIIEvQ" not in redacted(written)


ORDINARY = [
    "4bf92f3577b34da6a3ce929d0e0e4736",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "123e4567-e89b-12d3-a456-426614174000",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "ISBN 978-3-16-148410-0 and 9783161484100",
    "order 4000123412341235 and order-4111111111111111",
    "invoice 2024-000123, tracking 1Z999AA10123456784",
    "[0.4111111111111111, -0.5555555555554444]",
    "1795228282733017730",
    "task-management-for-beginners-in-2024",
    "sk-learn-pipelines-for-text-classification",
    "You can reset your password: open the settings page and click Reset.",
    "The secret: patience. Password: required.",
    "An API key is needed; bearer authentication is supported.",
    '{"password": {"type": "string"}, "secret": "string"}',
    "max_tokens: 1024, total_tokens=5120",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    "https://user@example.org:8080/path?page=2",
    "password=$PASSWORD api_key=<your key> secret={secret}",
    "mail ada@example.org or call +49 30 901820",
    "DE89 3704 0044 0532 0130 00",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_ids_numbers_and_sentences_stay(text: str) -> None:
    assert redacted(text) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("mail ada.l@example.org now", "ada.l@example.org"),
        ("IBAN DE89 3704 0044 0532 0130 00.", "DE89 3704 0044 0532 0130 00"),
        ("call +49 30 9018 2055", "+49 30 9018 2055"),
        ("call (555) 234-5678", "234-5678"),
        ("SSN 078-05-1120", "078-05-1120"),
    ],
)
def test_personal_data_goes_where_the_setting_says_so(text: str, value: str) -> None:
    assert value in redacted(text)
    assert value not in redacted(text, personal="mask")


def test_a_number_that_fails_its_sum_is_no_card_and_no_iban() -> None:
    text = "4111 1111 1111 1112 and DE88 3704 0044 0532 0130 00"
    assert redacted(text, personal="mask") == text


def places(request: Any, text: str) -> None:
    """Puts `text` wherever a span can hold text."""
    span = spans_of(request)[0]
    span.name, span.trace_state, span.status.message = text, f"v={text}", text
    span.attributes.add(key="raw").value.bytes_value = text.encode()
    span.attributes.add(key="image").value.bytes_value = b"\xff\xd8" + text.encode() + b"\x00\xfe"
    span.attributes.add(key=text).value.bool_value = True
    deep = span.attributes.add(key="deep").value.array_value.values.add().kvlist_value
    deep.values.add(key="k").value.array_value.values.add().string_value = text
    once = json.dumps({"content": text})
    span.attributes.add(key="json").value.string_value = json.dumps([once, json.dumps([once])])
    span.events.add(name=text).attributes.add(key="e").value.string_value = text
    link = span.links.add(trace_id=b"1" * 16, span_id=b"2" * 8, trace_state=f"v={text}")
    link.attributes.add(key="l").value.string_value = text
    container = request.resource_spans[0]
    container.schema_url = f"https://x/{text}"
    container.resource.attributes.add(key="r").value.string_value = text
    container.scope_spans[0].scope.name = text
    container.scope_spans[0].scope.attributes.add(key="s").value.string_value = text


def test_no_place_in_a_span_keeps_a_secret() -> None:
    request = trace_request(1)
    places(request, SECRET)
    found = REDACTOR.redact(request)
    assert SECRET.encode() not in request.SerializeToString()
    assert found["sk_key"] >= 14
    assert spans_of(request)[0].trace_id == spans_of(trace_request())[0].trace_id


def test_no_place_in_a_log_record_keeps_a_secret() -> None:
    request = log_request(1, body=f"the key is {SECRET}")
    record = spans_of(request)[0]
    record.event_name = record.severity_text = SECRET
    record.attributes.add(key="a").value.string_value = SECRET
    REDACTOR.redact(request)
    assert SECRET.encode() not in request.SerializeToString()


@pytest.mark.parametrize("key", ["db.password", "x-api-key", "http.request.header.authorization"])
def test_the_value_of_an_attribute_named_as_a_secret_goes_whole(key: str) -> None:
    request = trace_request(1)
    span = spans_of(request)[0]
    span.attributes.add(key=key).value.string_value = "correct horse"
    span.attributes.add(key=key).value.array_value.values.add().string_value = "correct horse"
    assert REDACTOR.finds(request.SerializeToString())
    assert REDACTOR.redact(request) == {"credential": 2}
    assert b"correct horse" not in request.SerializeToString()


def test_unknown_fields_do_not_carry_a_secret_past_the_redactor() -> None:
    unknown = b"\xfa\x3e" + bytes([len(SECRET)]) + SECRET.encode()
    body = trace_request(1, text=SECRET).SerializeToString() + unknown
    request = type(trace_request()).FromString(body)
    REDACTOR.redact(request)
    assert SECRET.encode() not in request.SerializeToString()


def test_a_mark_tells_kind_and_length_and_is_the_same_for_the_same_value() -> None:
    first, second = redacted(f"a {SECRET}"), redacted(f"quoted: “{SECRET}”")
    mark = first.removeprefix("a ")
    assert mark.startswith(f"⟪sk_key/{len(SECRET)}/")
    assert second == f"quoted: “{mark}”"
    assert redacted(SECRET.replace("aB3", "aB4")) != mark


def test_another_installation_makes_another_mark() -> None:
    other = Redactor(RedactSettings(), key=b"o" * 32)
    request = trace_request(1, text=SECRET)
    other.redact(request)
    assert spans_of(request)[0].attributes[0].value.string_value != redacted(SECRET)


def test_what_is_redacted_is_not_redacted_again() -> None:
    once = redacted(f"password={SECRET} card 4111 1111 1111 1111")
    assert redacted(once) == once


def test_hash_keeps_a_longer_digest_than_mask() -> None:
    masked, hashed = redacted(SECRET), redacted(SECRET, secrets="hash")
    assert len(hashed) == len(masked) + 24


def test_a_pattern_may_be_off_alone() -> None:
    text = f"{SECRET} 4111 1111 1111 1111"
    assert "4111 1111 1111 1111" in redacted(text, actions={"payment_card": "off"})
    assert redacted(text, secrets="off") == text


@pytest.mark.parametrize(
    ("expression", "text", "after"),
    [
        (r"PAT-\d{6}", "patient PAT-123456.", "patient ⟪own/10/"),
        (r"patient (\w+)", "patient Ada", "patient ⟪own/3/"),
        (r"^Ada$", "Ada", "⟪own/3/"),
        (r"(?i)größe.x", "die GRÖSSE bleibt, GRÖßE=x geht", "die GRÖSSE bleibt, ⟪own/7/"),
    ],
)
def test_a_pattern_of_ones_own_is_taken_out(expression: str, text: str, after: str) -> None:
    assert redacted(text, patterns={"own": expression}).startswith(after)


@given(st.integers(0, 140), st.sampled_from(sorted(SECRETS)), st.randoms(use_true_random=False))
def test_a_secret_is_found_whatever_the_length_bytes_around_it(
    length: int, kind: str, rng: random.Random
) -> None:
    filler = "".join(rng.choices("abc def. ", k=length))
    for text in (f"{SECRETS[kind]} {filler}", f"{filler} {SECRETS[kind]}"):
        request = trace_request(1, text=text)
        assert REDACTOR.finds(request.SerializeToString())
        REDACTOR.redact(request)
        assert SECRETS[kind].encode() not in request.SerializeToString()


@given(st.text(max_size=60))
def test_redacting_never_fails_and_happens_once(text: str) -> None:
    raw = text.encode("utf-8", "replace")
    once = REDACTOR.redact_text(raw, Counter())
    assert REDACTOR.redact_text(once, Counter()) == once


def test_the_installation_key_is_made_once_and_private(tmp_path: Path) -> None:
    key = installation_key(tmp_path / "new")
    assert installation_key(tmp_path / "new") == key
    (path,) = (tmp_path / "new").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_bytes(b"short")
    with pytest.raises(ValueError, match="is not a key of 32 bytes"):
        installation_key(tmp_path / "new")


def test_the_union_of_overlapping_matches_goes_and_the_most_specific_names_the_mark() -> None:
    after = redacted(f'password="{SECRET} correct horse"')
    assert after.startswith('password="⟪sk_key/')
    assert after.endswith('⟫"')
    assert redacted(f"password={SECRET}").startswith("password=⟪sk_key/")
    own = redacted(f"key {SECRET} end", patterns={"own": r"key \S+"})
    assert own.startswith("⟪own/")
    assert own.endswith("⟫ end")


@pytest.mark.parametrize("name", ["quoted_password", "written_password", "password", "token"])
def test_an_action_may_still_name_each_pattern_of_a_password(name: str) -> None:
    texts = {
        "quoted_password": '"password": "swordfish"',
        "written_password": "password: swordfish",
        "password": "password=swordfish",
        "token": "token: aB3dE5gH7jK9mN1pQ2",
    }
    for other, text in texts.items():
        assert (redacted(text, actions={name: "off"}) == text) is (other == name)


@pytest.mark.parametrize(
    "body",
    [
        b'{"resourceSpans": "' + SECRET.encode() + b'"}',
        b'{"a": ' + SECRET.encode(),
        b"password=" + SECRET.encode(),
        b"\x0a\xff" + SECRET.encode(),
    ],
)
@pytest.mark.parametrize("encoding", list(Encoding))
def test_the_message_of_a_refusal_does_not_say_the_text(body: bytes, encoding: Encoding) -> None:
    with pytest.raises(Refused) as refusal:
        decode(body, encoding, Signal.TRACES, LimitSettings())
    assert SECRET not in str(refusal.value)


def test_what_is_saved_of_a_broken_request_is_redacted() -> None:
    request = trace_request(2, text=SECRET)
    spans_of(request)[0].name = "BROKEN"
    spans_of(request)[0].attributes.add(key="x").value.string_value = "BROKEN"
    body = with_broken_text(request)
    read = decode(body, Encoding.PROTOBUF, Signal.TRACES, LimitSettings())
    assert read.rejected
    assert REDACTOR.finds(read.payload())
    assert REDACTOR.redact(read.request) == {"sk_key": 1}
    assert SECRET.encode() not in read.request.SerializeToString()
