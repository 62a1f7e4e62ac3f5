"""Settings of `[web]`: tokens, addresses, refusals in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from ragvigil.web.identity import Role
from ragvigil.web.settings import WebSettings


def test_every_key_is_described() -> None:
    assert all(field.description for field in WebSettings.model_fields.values())


def test_loopback_needs_no_token() -> None:
    assert WebSettings().people() is None
    assert WebSettings().secret("reader") is None


def test_an_open_address_is_refused_without_token_and_tls() -> None:
    with pytest.raises(ValidationError, match=r"0\.0\.0\.0:8088 is reachable .* a token and TLS"):
        WebSettings(endpoint="0.0.0.0:8088")


def test_an_endpoint_is_host_and_port() -> None:
    with pytest.raises(ValidationError, match="8088 is not an address of the form host:port"):
        WebSettings(endpoint="8088")


def test_an_external_url_has_a_scheme() -> None:
    with pytest.raises(ValidationError, match="begins with http"):
        WebSettings(external_url="desk.example")


def test_tokens_come_from_settings_and_file(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("# ours\ningest  aaa\nreader bbb\n\n")
    settings = WebSettings(admin_token="ccc", tokens_file=file)  # type: ignore[arg-type]
    people = {token: (person.name, person.role) for token, person in settings.people().items()}
    assert people == {
        "ccc": ("admin", Role.ADMIN),
        "aaa": ("ingest", Role.INGEST),
        "bbb": ("reader", Role.READER),
    }
    assert settings.secret("reader") == "bbb"
    assert settings.secret("triager") == "ccc"


def test_a_wrong_line_of_the_tokens_file_is_named_but_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("reader bbb\nroot s3cret\n")
    with pytest.raises(ValueError, match=r"tokens:2: is not a line") as error:
        WebSettings(tokens_file=file)
    assert "s3cret" not in str(error.value)
