"""Settings of `[alerts]` and `[metrics]` refuse wrong values in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

from alerts.settings import AlertsSettings, MetricsSettings


def sentence(error: pytest.ExceptionInfo[ValidationError]) -> str:
    return error.value.errors()[0]["msg"].removeprefix("Value error, ")


def test_every_key_is_described() -> None:
    for model in (AlertsSettings, MetricsSettings):
        for name, field in model.model_fields.items():
            is_section = isinstance(field.default, BaseModel)
            parts = type(field.default).model_fields.values() if is_section else [field]
            assert all(part.description for part in parts), name


def test_unknown_keys_are_errors() -> None:
    with pytest.raises(ValidationError):
        AlertsSettings(windows=5)  # type: ignore[call-arg]


@pytest.mark.parametrize("rate", ["refusal", ":refused", "*:refused"])
def test_a_rate_names_rubric_and_label(rate: str) -> None:
    with pytest.raises(ValidationError) as error:
        AlertsSettings(rates=(rate,))
    assert sentence(error) == f"{rate} is neither rubric:label nor *:failed"


@pytest.mark.parametrize("text", ["2026-01-01", "2026-01-02/2026-01-01", "soon/later"])
def test_a_release_baseline_is_a_time_range(text: str) -> None:
    with pytest.raises(ValidationError) as error:
        AlertsSettings(release_baselines={"desk": text})
    assert sentence(error) == f"desk: {text} is not a time range START/END in ISO 8601"


@pytest.mark.parametrize(
    ("more", "lacks"),
    [
        ({}, "a token and TLS"),
        ({"token": "t"}, "TLS"),
        ({"insecure": True}, "a token"),
    ],
)
def test_an_open_address_needs_token_and_tls(more: dict[str, object], lacks: str) -> None:
    with pytest.raises(ValidationError) as error:
        MetricsSettings.model_validate({"endpoint": "0.0.0.0:9464", **more})
    assert sentence(error).startswith(
        f"0.0.0.0:9464 is reachable from other machines and lacks {lacks}; give "
    )


def test_insecure_is_written_where_it_is_meant() -> None:
    settings = {"endpoint": "0.0.0.0:9464", "insecure": True, "token": "s3cret"}
    assert MetricsSettings.model_validate(settings).secret() == "s3cret"


def test_a_token_comes_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("s3cret\n")
    assert MetricsSettings(token_file=tmp_path / "token").secret() == "s3cret"


def test_a_token_is_not_printed() -> None:
    assert "s3cret" not in repr(MetricsSettings(token="s3cret"))  # type: ignore[arg-type]


def test_a_certificate_needs_its_key() -> None:
    with pytest.raises(ValidationError) as error:
        MetricsSettings(tls_certificate=Path(__file__))
    assert sentence(error).startswith("only tls_certificate is set; give both")
