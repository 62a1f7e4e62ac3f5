"""Settings of `[collector]`: open addresses, TLS, and patterns are refused in one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from collector.receiver.auth import access_of
from collector.settings import CollectorSettings
from tests.certificates import self_signed


def refusal(**settings: Any) -> tuple[tuple[int | str, ...], str]:
    """Where and why these settings are refused."""
    with pytest.raises(ValidationError) as caught:
        CollectorSettings.model_validate(settings)
    (problem,) = caught.value.errors()
    return problem["loc"], problem["msg"].removeprefix("Value error, ")


@pytest.fixture
def pem(tmp_path: Path) -> Path:
    return self_signed(tmp_path).pem


@pytest.mark.parametrize("key", ["grpc_endpoint", "http_endpoint"])
def test_an_open_address_needs_token_and_tls(key: str) -> None:
    where, why = refusal(**{key: "0.0.0.0:4317"})
    assert where == (key,)
    assert why == (
        "0.0.0.0:4317 is reachable from other machines and lacks a token and TLS; "
        "give them, or stay on 127.0.0.1 (insecure = true does without TLS)"
    )


def test_an_open_address_with_the_other_listeners_token_is_refused(pem: Path) -> None:
    tls = {"tls_certificate": pem, "tls_key": pem}
    where, why = refusal(http_endpoint="0.0.0.0:4318", grpc_token="x", **tls)
    assert where == ("http_endpoint",)
    assert "lacks a token;" in why


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "localhost"])
def test_loopback_needs_nothing(host: str) -> None:
    CollectorSettings(grpc_endpoint=f"{host}:4317", http_endpoint=f"{host}:4318")


def test_an_open_address_is_taken_with_a_token_and_tls_or_insecure(pem: Path) -> None:
    CollectorSettings.model_validate(
        {"grpc_endpoint": "0.0.0.0:4317", "grpc_token": "x", "insecure": True}
    )
    CollectorSettings.model_validate(
        {
            "http_endpoint": "0.0.0.0:4318",
            "http_token": "x",
            "tls_certificate": pem,
            "tls_key": pem,
        }
    )


@pytest.mark.parametrize(
    ("settings", "where", "why"),
    [
        ({"grpc_endpoint": "4317"}, ("grpc_endpoint",), "4317 is not an address of the form"),
        ({"tls_certificate": "no.pem"}, ("tls_certificate",), "no.pem is not a file"),
        ({"http_token_file": "nowhere"}, ("http_token_file",), "nowhere is not a file"),
        ({"grcp_endpoint": "x"}, ("grcp_endpoint",), "Extra inputs are not permitted"),
        ({"limits": {"max_items": 0}}, ("limits", "max_items"), "greater than or equal to 1"),
        (
            {"redact": {"patterns": {"own": "(a"}}},
            ("redact", "patterns"),
            "own: (a is not an RE2 expression",
        ),
        ({"redact": {"patterns": {"own": "x*"}}}, ("redact", "patterns"), "matches the empty"),
        ({"redact": {"patterns": {"a b": "x"}}}, ("redact", "patterns"), "a b is not a name"),
        ({"redact": {"patterns": {"own": "(a)(b)"}}}, ("redact", "patterns"), "one group"),
        ({"redact": {"actions": {"emial": "mask"}}}, ("redact", "actions"), "emial is no pattern"),
        ({"redact": {"secrets": "drop"}}, ("redact", "secrets"), "'off', 'mask' or 'hash'"),
    ],
    ids=str,
)
def test_a_wrong_setting_is_refused_by_name(
    settings: dict[str, Any], where: tuple[str, ...], why: str
) -> None:
    place, message = refusal(**settings)
    assert place == where
    assert why in message


def test_half_of_tls_is_refused(pem: Path) -> None:
    for given in ("tls_key", "tls_certificate"):
        where, why = refusal(**{given: pem})
        assert where == ("tls_key",)
        assert f"only {given} is set" in why


def test_tokens_are_read_from_files_and_never_shown(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("sesame\n")
    settings = CollectorSettings.model_validate({"grpc_token_file": path, "http_token": "open"})
    assert access_of(settings, "grpc").token == "sesame"
    assert access_of(settings, "http").token == "open"
    assert "open" not in repr(settings.http_token)
