"""The address of the export and the headers it sends."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from scorers.export.settings import ExportSettings, read_headers


def test_nothing_is_exported_by_default_and_explanations_only_on_request() -> None:
    settings = ExportSettings()
    assert settings.endpoint == ""
    assert not settings.explanations
    assert not settings.not_applicable
    assert not settings.backfill


@pytest.mark.parametrize(
    ("endpoint", "is_encrypted"),
    [
        ("http://collector:4317", False),
        ("https://otel.example/", True),
        ("http://[::1]:4317", False),
    ],
)
def test_the_scheme_says_whether_it_is_encrypted(endpoint: str, is_encrypted: bool) -> None:
    settings = ExportSettings(endpoint=endpoint)
    assert settings.is_encrypted is is_encrypted
    assert not settings.endpoint.endswith("/")


def test_only_http_has_a_path() -> None:
    path = "https://otel.example/api/public/otel"
    assert ExportSettings(protocol="http/protobuf", endpoint=path).endpoint == path
    with pytest.raises(ValidationError, match="gRPC has no path"):
        ExportSettings(endpoint=path)


def test_headers_are_read_one_per_line_in_lower_case(tmp_path: Path) -> None:
    file = tmp_path / "headers"
    file.write_text("Authorization: Basic cGs6c2s=\n\n  X-Scope-OrgID:  tenant 1 \n")
    assert read_headers(file) == {"authorization": "Basic cGs6c2s=", "x-scope-orgid": "tenant 1"}
    assert read_headers(None) == {}


@pytest.mark.parametrize(
    "text", ["s3cret", "Authorization s3cret", ": s3cret", "a b: s3cret", "Authorization:", "a: é"]
)
def test_a_bad_header_line_is_named_by_its_number_and_never_shown(
    text: str, tmp_path: Path
) -> None:
    file = tmp_path / "headers"
    file.write_text(f"x-a: b\n{text}\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 2 is not of the form Name: value") as caught:
        read_headers(file)
    assert "s3cret" not in str(caught.value)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "headers"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="is not UTF-8"):
        read_headers(file)


@given(st.text())
def test_any_endpoint_is_accepted_as_an_address_or_refused(endpoint: str) -> None:
    with suppress(ValidationError):
        settings = ExportSettings(endpoint=endpoint)
        assert not settings.endpoint or settings.endpoint.lower().startswith("http")
