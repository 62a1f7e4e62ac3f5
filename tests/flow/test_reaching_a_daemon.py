"""How commands reach a daemon, and name what they ask about: --url, -v, the beginning of an id."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse
from typer.testing import CliRunner

from ragvigil.app.cli.main import app
from ragvigil.app.client import api as api_client
from ragvigil.app.settings import Settings, SettingsError
from ragvigil.store.engine.store import Store
from tests.flow.test_api import keep as keep_outcomes
from tests.flow.test_api import outcome
from tests.issues import NOW, failure, issue, keep
from tests.served_api import Commands, commands, port_of
from tests.served_issues import served


@pytest.fixture
def daemon(store: Store, tmp_path: Path) -> Iterator[Commands]:
    with commands(served(store, tmp_path), tmp_path) as made:
        yield made


def test_the_beginning_of_an_id_is_enough(store: Store, daemon: Commands) -> None:
    keep(store, [failure(1)], issue("abc1" + "0" * 12))
    keep(store, [failure(2)], issue("abc2" + "0" * 12))
    keep_outcomes(store, [outcome(7, NOW - 60)])
    assert daemon.say("issues", "show", "ABC1").startswith("abc1000000000000  ")
    assert daemon.say("issues", "ack", "abc2").startswith("abc2000000000000 is acknowledged")
    assert f"trace {7:032x}" in daemon.say("trace", f"{7:032x}"[:31])


def test_an_id_that_is_not_unique_names_the_candidates(store: Store, daemon: Commands) -> None:
    for number in range(7):
        keep(store, [failure(number)], issue(f"abc{number}" + "0" * 12))
    with pytest.raises(api_client.Refused) as refusal:
        daemon.say("issues", "show", "abc")
    named = ", ".join(f"abc{number}000000000000" for number in range(5))
    assert str(refusal.value) == f"several issues begin with abc, type more of one: {named}, ..."


def test_a_whole_id_is_itself_whatever_begins_with_it(store: Store, daemon: Commands) -> None:
    keep(store, [failure(1)], issue("i1"))
    keep(store, [failure(2)], issue("i12"))
    assert daemon.say("issues", "show", "i1").startswith("i1  ")


@pytest.mark.parametrize(
    "typed", ["zz", "z" * 32, "a" * 33, "a" * 300, "%", "a/b", "0" * 31, "", "\x00"]
)
def test_an_id_that_nothing_has_is_one_sentence(daemon: Commands, typed: str) -> None:
    with pytest.raises(api_client.Refused) as refusal:
        daemon.say("trace", typed)
    assert str(refusal.value) == f"there is no trace {typed}, and no id begins with that"


def test_a_url_of_the_command_or_the_environment_wins(daemon: Commands, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_text('[client]\nurl = "http://127.0.0.1:9"\n')
    url = f"http://127.0.0.1:{daemon.port}"
    for command, environment in ((["--url", url], {}), ([], {"RAGVIGIL_URL": url})):
        arguments = ["topics", "--config", str(elsewhere), *command]
        assert CliRunner().invoke(app, arguments, env=environment).exit_code == 0
    refused = CliRunner().invoke(app, ["topics", "--config", str(elsewhere)])
    assert "http://127.0.0.1:9" in str(refused.exception)
    wrong = CliRunner().invoke(app, ["topics", "--url", "somewhere"])
    assert isinstance(wrong.exception, SettingsError)
    assert str(wrong.exception).startswith("[client] url: ")


def test_v_says_which_settings_were_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAGVIGIL_INFERENCE__ENABLED", raising=False)
    missing = CliRunner().invoke(app, ["check", "-v"], env={"RAGVIGIL_JUDGE__SAMPLE_RATE": "0.1"})
    assert missing.stderr == (
        f"settings: no file, {tmp_path}/ragvigil.toml is not there; "
        "and of the environment RAGVIGIL_JUDGE__SAMPLE_RATE\n"
    )
    (tmp_path / "ragvigil.toml").touch()
    there = CliRunner().invoke(app, ["check", "--verbose"])
    assert there.stderr == f"settings: {tmp_path}/ragvigil.toml\n"


def test_a_daemon_that_takes_too_long_is_alive_but_slow() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        settings = Settings.model_validate({"web": {"endpoint": address}})
        with pytest.raises(api_client.Unreachable, match="is alive but slow: no answer in 0 s"):
            api_client.post(settings, "labels", [], role="triager", timeout_seconds=0.2)


@pytest.mark.parametrize("status", [200, 404, 500])
def test_another_server_at_the_address_is_named(status: int) -> None:
    with port_of(PlainTextResponse("<html>hello", status)) as port:
        settings = Settings.model_validate({"web": {"endpoint": f"127.0.0.1:{port}"}})
        with pytest.raises(api_client.Unreachable) as refusal:
            api_client.get(settings, "why")
    assert str(refusal.value) == (
        f"what answers at http://127.0.0.1:{port} is not ragvigil's API (status {status}); "
        "--url or [client] url must be the daemon's [web] endpoint"
    )


def test_an_error_of_the_api_is_its_message(store: Store, tmp_path: Path) -> None:
    with commands(served(store, tmp_path, reader_token="r3ader"), tmp_path) as daemon:
        with pytest.raises(api_client.Unreachable) as refusal:
            daemon.say("status")
        assert str(refusal.value) == (
            f"http://127.0.0.1:{daemon.port}: a token is needed: "
            "Authorization: Bearer TOKEN; [client] token_file is what commands send"
        )
