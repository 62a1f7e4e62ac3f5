"""Every key that gives a token refuses one that is empty or unsendable, also from a variable."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ragvigil.app.settings import SettingsError, known_keys, load, variable
from ragvigil.app.settings.guards import doubts, guards, require_readable
from tests.patience import PATIENCE_SECONDS

# Those of others: what a golden target's service or a provider asks for is theirs to say.
OURS = ("collector", "metrics", "web", "client")
KEYS = [path for path in known_keys() if path[0] in OURS and "token" in path[-1]]
WRITTEN = [path for path in KEYS if path[-1].endswith("token")]
FILES = [path for path in KEYS if path[-1].endswith("file")]
NO_TOKEN = {
    "empty": b"",
    "blank": b" \t ",
    "newline": b"\n",
    "mark": b"\xef\xbb\xbf",
    "marked blank": b"\xef\xbb\xbf \r\n",
    "comment": b"# put the token here\n",
    "comments": b"\xef\xbb\xbf\n  # reader\n# admin s3cret-s3cret\n",
    "utf-16": "reader s3cret-s3cret\n".encode("utf-16"),
    "latin-1": "reader t\xf6ken".encode("latin-1"),
    "not ascii": "reader t\u00f6ken".encode(),
    "zero": b"\x00",
    "space within": b"reader two words=",
    "control": b"reader s3cret\x1b[2Jx",
}


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("RAGVIGIL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("RAGVIGIL_CONFIG", os.devnull)


def refusal(path: tuple[str, ...], value: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Why the settings with this variable are refused."""
    monkeypatch.setenv(variable(path), value)
    with pytest.raises(SettingsError) as error:
        load()
    return str(error.value)


def test_the_keys_that_give_tokens_are_found() -> None:
    assert len(WRITTEN) >= 10
    assert len(FILES) >= 6


@pytest.mark.parametrize(
    "said", [name for name, content in NO_TOKEN.items() if b"\0" not in content]
)
@pytest.mark.parametrize("path", WRITTEN, ids=".".join)
def test_a_variable_without_a_token_is_refused(
    path: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = NO_TOKEN[said].decode("utf-8", "replace")
    sentence = refusal(path, value, monkeypatch)
    assert sentence.startswith(f"[{path[0]}] {path[1]}: ")
    assert "\n" not in sentence
    assert "s3cret" not in sentence


@pytest.mark.parametrize("said", NO_TOKEN)
@pytest.mark.parametrize("path", FILES, ids=".".join)
def test_a_file_without_a_token_is_refused(
    path: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    file.write_bytes(NO_TOKEN[said])
    sentence = refusal(path, str(file), monkeypatch)
    assert sentence.startswith(f"[{path[0]}] {path[1]}: ")
    assert "\n" not in sentence
    assert "s3cret" not in sentence


@pytest.mark.parametrize("path", FILES, ids=".".join)
@pytest.mark.parametrize("name", ["", ".", "gone"])
def test_a_file_that_is_none_is_refused(
    path: tuple[str, ...], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refusal(path, name, monkeypatch).startswith(f"[{path[0]}] {path[1]}: ")


@pytest.mark.parametrize("around", ["{}", "{}\n", "\ufeff{}\r\n\r\n", "# ours\n\n  {}  \n"])
@pytest.mark.parametrize("path", FILES, ids=".".join)
def test_what_stands_around_a_token_of_a_file_does_not_matter(
    path: tuple[str, ...], around: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, token = tmp_path / "token", "s3cret-s3cret-s3cret"
    line = f"admin {token}" if path[-1] == "tokens_file" else token
    file.write_text(around.format(line), encoding="utf-8")
    monkeypatch.setenv(variable(path), str(file))
    settings = load()
    given = {
        *(settings.collector.token(name) for name in ("grpc", "http", "admin")),
        settings.metrics.secret(), settings.client.secret(), *(settings.web.people() or {}),
    }  # fmt: skip
    assert given - {None} == {token}


@pytest.mark.parametrize(
    "lines", ["reader same\nadmin same\n", "reader same\nreader x\nadmin same"]
)
def test_a_token_has_one_role(lines: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "tokens"
    file.write_text(lines)
    sentence = refusal(("web", "tokens_file"), str(file), monkeypatch)
    assert sentence.endswith("is the token of the role reader too")
    file.write_text("reader same\n")
    monkeypatch.setenv("RAGVIGIL_WEB__ADMIN_TOKEN", "same")
    sentence = refusal(("web", "tokens_file"), str(file), monkeypatch)
    assert sentence.endswith(":1: is the token of the role admin too")


def test_a_file_that_loses_its_token_while_the_daemon_runs_opens_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "tokens"
    file.write_text("admin s3cret\n")
    monkeypatch.setenv("RAGVIGIL_WEB__TOKENS_FILE", str(file))
    settings = load()
    file.write_text("")
    with pytest.raises(ValueError, match="holds no token"):
        settings.web.people()
    file.unlink()
    with pytest.raises(ValueError, match="cannot be read"):
        settings.web.people()


def unsafe() -> Iterator[tuple[dict[str, str], str]]:
    """Settings that would open a listener to others, and how their sentence begins."""
    listeners = {
        "COLLECTOR__GRPC_ENDPOINT": "[collector] grpc_endpoint",
        "COLLECTOR__HTTP_ENDPOINT": "[collector] http_endpoint",
        "METRICS__ENDPOINT": "[metrics] endpoint",
        "WEB__ENDPOINT": "[web] endpoint",
    }
    for key, place in listeners.items():
        section = key.partition("__")[0]
        for address in ("0.0.0.0:0", "[::]:0", "192.0.2.1:0"):
            open_ = {key: address}
            yield open_, f"{place}: {address} is reachable from other machines and lacks a token"
            yield open_ | {f"{section}__INSECURE": "true"}, f"{place}: {address} is reachable"
            none = {f"{section}__TOKENS": "none", f"{section}__INSECURE": "true"}
            yield open_ | none, f"{place}: {address} is reachable from other machines; tokens"


@pytest.mark.parametrize(("settings", "sentence"), list(unsafe()), ids=str)
def test_what_would_be_open_to_others_is_refused(
    settings: dict[str, str], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(f"RAGVIGIL_{name}", value)
    with pytest.raises(SettingsError) as error:
        load()
    assert str(error.value).startswith(sentence)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "settings",
    [{"WEB__ADMIN_TOKEN": ""}, {"METRICS__TOKEN": " "}, {"WEB__ENDPOINT": "0.0.0.0:0"}],
    ids=str,
)
def test_the_check_and_the_start_say_the_same_sentence(
    settings: dict[str, str], tmp_path: Path
) -> None:
    given = {f"RAGVIGIL_{name}": value for name, value in settings.items()}
    environment = os.environ | given | {"RAGVIGIL_DATA_DIR": str(tmp_path / "data")}
    said = []
    for module in ("ragvigil.app.cli.main", "ragvigil.app.daemon"):
        arguments = ["check"] if module.endswith("main") else []
        ended = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
        )  # fmt: skip
        assert ended.returncode == 2
        said.append(ended.stderr)
    assert said[0] == said[1]
    assert said[0].count("\n") == 1


@contextmanager
def as_another_user() -> Iterator[None]:
    """Files of mode 0 cannot be read: root, who may read every file, becomes nobody."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


@pytest.mark.parametrize("path", [path for path in FILES if path[0] != "client"], ids=".".join)
def test_a_file_of_another_user_opens_nothing_and_hinders_no_command(
    path: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    file.write_text("admin s3cret\n" if path[-1] == "tokens_file" else "s3cret\n")
    file.chmod(0)
    monkeypatch.setenv(variable(path), str(file))
    load()  # what is imported lazily is read as ourselves
    with as_another_user():
        settings = load()
        with pytest.raises(ValueError, match="cannot be read"):
            guards(settings)
        with pytest.raises(SettingsError) as error:
            require_readable(settings)
    assert str(error.value).startswith(f"[{path[0]}] {path[1]}: {file} cannot be read: ")


def test_what_of_tokens_is_probably_not_meant_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "tokens"
    file.write_text("reader short\nadmin long-enough-0123456789\n")
    file.chmod(0o644)
    monkeypatch.setenv("RAGVIGIL_WEB__TOKENS_FILE", str(file))
    monkeypatch.setenv("RAGVIGIL_COLLECTOR__HTTP_TOKEN", "long-enough-0123456789")
    monkeypatch.setenv("RAGVIGIL_JUDGE__BASE_URL", "http://model.example/v1")
    monkeypatch.setenv("RAGVIGIL_JUDGE__KEY", "s3cret")
    assert list(doubts(load())) == [
        ("[web]", "a token has fewer than 16 characters and can be guessed"),
        ("[web]", "a token is that of [collector] too: whoever has it may do both"),
        (
            "[web] tokens_file",
            f"{file} can be read by every user of this machine; chmod o-r",
        ),
        ("[judge] base_url", "a secret is sent to http://model.example/v1 in clear text"),
    ]
