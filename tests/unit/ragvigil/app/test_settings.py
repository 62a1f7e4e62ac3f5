"""One TOML file, then variables, then flags; each wrong setting is one sentence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ragvigil.app.settings import SettingsError, load, origin, variable
from tests.deploy_files import SERVICE_LINKS


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("RAGVIGIL_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)


def written(tmp_path: Path, text: str) -> Path:
    tmp_path.mkdir(exist_ok=True)
    path = tmp_path / "ragvigil.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_defaults_are_loopback_and_a_folder_beside() -> None:
    settings = load()
    assert settings.data_dir == Path("ragvigil-data")
    assert settings.collector.grpc_endpoint == "127.0.0.1:4317"
    assert settings.metrics.endpoint == "127.0.0.1:9464"


def test_a_variable_wins_over_the_file_and_a_flag_over_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, 'data_dir = "from-file"\n[web]\nendpoint = "127.0.0.1:1111"\n')
    assert load(path).data_dir == Path("from-file")
    monkeypatch.setenv("RAGVIGIL_WEB__ENDPOINT", "127.0.0.1:2222")
    monkeypatch.setenv("RAGVIGIL_DATA_DIR", "from-variable")
    assert load(path).web.endpoint == "127.0.0.1:2222"
    assert load(path, data_dir=Path("from-flag")).data_dir == Path("from-flag")


def test_the_file_of_one_load_is_not_that_of_the_next(tmp_path: Path) -> None:
    before = dict(os.environ)
    assert load(written(tmp_path / "other", 'data_dir = "once"\n')).data_dir == Path("once")
    assert dict(os.environ) == before
    assert load().data_dir == Path("ragvigil-data")


def test_a_variable_replaces_its_own_key_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "[collector.limits]\nmax_items = 7\nmax_nesting = 8\n")
    monkeypatch.setenv("RAGVIGIL_COLLECTOR__LIMITS__MAX_ITEMS", "9")
    limits = load(path).collector.limits
    assert (limits.max_items, limits.max_nesting) == (9, 8)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[colector]\n", "colector: there is no such key"),
        ("[collector]\nport = 1\n", "[collector] port: there is no such key"),
        (
            "[collector.limits]\nmax_body_bytes = 0\n",
            "[collector.limits] max_body_bytes: 0 is not allowed: must be greater than or equal to",
        ),
        (
            "[store]\nlinger_seconds = 'soon'\n",
            "[store] linger_seconds: 'soon' is not allowed: must be a valid number",
        ),
        (
            '[collector]\ngrpc_endpoint = "0.0.0.0:4317"\n',
            "[collector] grpc_endpoint: 0.0.0.0:4317",
        ),
    ],
)
def test_a_wrong_key_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(SettingsError) as found:
        load(written(tmp_path, text))
    assert str(found.value).startswith(sentence)
    assert len(str(found.value).splitlines()) == 1


def test_an_unknown_variable_is_an_error_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGVIGIL_COLLECTOR_GRPC_ENDPOINT", "127.0.0.1:1")
    with pytest.raises(SettingsError, match="did you mean RAGVIGIL_COLLECTOR__GRPC_ENDPOINT"):
        load()


def test_what_kubernetes_puts_beside_a_service_is_no_setting(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in SERVICE_LINKS.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match="RAGVIGIL_PORT: there is no such setting"):
        load(written(tmp_path, ""))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    load(written(tmp_path, ""))
    assert "SERVICE_HOST" not in origin()
    monkeypatch.setenv("RAGVIGIL_WEB__PORT", "1")
    with pytest.raises(SettingsError, match="RAGVIGIL_WEB__PORT: there is no"):
        load(written(tmp_path, ""))


def test_a_variable_that_is_no_json_is_named_without_its_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RAGVIGIL_SCORERS__DISABLED", "hunter2")
    with pytest.raises(SettingsError, match="DISABLED: is not JSON") as found:
        load()
    assert "hunter2" not in str(found.value)


def test_a_missing_or_broken_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="there is no such settings file"):
        load(tmp_path / "nowhere.toml")
    with pytest.raises(SettingsError, match="is not a readable TOML file"):
        load(written(tmp_path, "a = ["))


def test_a_secret_is_never_repeated(tmp_path: Path) -> None:
    for text in ('[metrics]\ntoken = ["hunter2"]\n', '[store]\nurl = ["http://me:hunter2@db"]\n'):
        with pytest.raises(SettingsError) as found:
            load(written(tmp_path, text))
        assert "hunter2" not in str(found.value)


def test_the_variable_of_a_key_is_its_path() -> None:
    assert variable(("collector", "limits", "max_spans")) == "RAGVIGIL_COLLECTOR__LIMITS__MAX_SPANS"
