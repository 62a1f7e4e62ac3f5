"""Compiled templates as files: read where they are whole, made anew where not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from ragvigil.web.compiled_templates import CompiledTemplates

PAGE = "{{ 'Now' | upper }}: {{ sentence }}"


def environment(folder: Path, page: str = PAGE) -> Environment:
    loader = DictLoader({"page.html": page})
    return Environment(loader=loader, bytecode_cache=CompiledTemplates(folder), autoescape=True)


def shown(folder: Path, page: str = PAGE) -> str:
    return environment(folder, page).get_template("page.html").render(sentence="nothing is wrong")


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many templates were compiled so far."""
    compiled = 0
    compile_anew = Environment.compile

    def compile_counted(*arguments: object, **named: object) -> object:
        nonlocal compiled
        compiled += 1
        return compile_anew(*arguments, **named)  # type: ignore[call-overload]

    monkeypatch.setattr(Environment, "compile", compile_counted)
    return lambda: compiled


def test_a_template_is_compiled_once_for_all_starts(
    tmp_path: Path, compiled: Callable[[], int]
) -> None:
    assert shown(tmp_path) == shown(tmp_path) == "NOW: nothing is wrong"
    assert compiled() == 1


def test_a_changed_template_is_compiled_anew(tmp_path: Path, compiled: Callable[[], int]) -> None:
    shown(tmp_path)
    assert shown(tmp_path, "{{ sentence }}") == "nothing is wrong"
    assert compiled() == 2


def test_what_another_version_compiled_is_compiled_anew(
    tmp_path: Path, compiled: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown(tmp_path)
    monkeypatch.setattr("ragvigil.web.compiled_templates.version", lambda _: "another")
    assert shown(tmp_path) == "NOW: nothing is wrong"
    assert compiled() == 2


@pytest.mark.parametrize("damage", [b"", b"\0" * 4096, b"some other file"])
def test_a_damaged_file_is_compiled_anew(
    damage: bytes, tmp_path: Path, compiled: Callable[[], int]
) -> None:
    shown(tmp_path)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for broken in (damage, whole[:-1], whole[:-1] + bytes([whole[-1] ^ 1])):
        file.write_bytes(broken)
        assert shown(tmp_path) == "NOW: nothing is wrong"
        assert file.read_bytes() == whole
    assert compiled() == 4


def test_a_page_is_shown_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert shown(tmp_path / "file") == "NOW: nothing is wrong"
