"""Every YAML file is well-formed, and every setting that deploy/ names is one of ours."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ragvigil.app.settings import known_keys, variable
from tests.certificates import self_signed
from tests.deploy_files import (
    DEPLOY,
    YAML,
)
from tests.patience import PATIENCE_SECONDS


@pytest.mark.parametrize("path", YAML, ids=lambda path: str(path.relative_to(DEPLOY)))
def test_every_yaml_file_is_one_document_without_repeated_keys(path: Path) -> None:
    class Strict(yaml.SafeLoader):
        pass

    def mapping(loader: yaml.SafeLoader, node: yaml.MappingNode) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]  # as written: "<<" is no string
        assert len(keys) == len(set(keys)), f"{path}: {keys}"
        return loader.construct_mapping(node, deep=True)

    Strict.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    assert yaml.load(path.read_text(encoding="utf-8"), Strict)


def files_that_name_settings() -> Iterator[Path]:
    for path in DEPLOY.rglob("*"):
        is_ours = path.is_file() and path.name != ".env" and "__pycache__" not in path.parts
        if is_ours and path.suffix != ".json":
            yield path


def test_every_variable_of_ragvigil_that_is_named_exists() -> None:
    known = {variable(path) for path in known_keys()} | {"RAGVIGIL_CONFIG"}
    named = {
        (path.name, name)
        for path in files_that_name_settings()
        for name in re.findall(r"\bRAGVIGIL_[A-Z_]+\b", path.read_text(encoding="utf-8"))
    }
    assert named
    assert not {(path, name) for path, name in named if name not in known}


TOKENS = ("COLLECTOR__GRPC_TOKEN", "COLLECTOR__HTTP_TOKEN", "METRICS__TOKEN", "WEB__ADMIN_TOKEN")


def checked(path: Path, folder: Path, *tokens: str) -> subprocess.CompletedProcess[str]:
    """`ragvigil check` of an example, its certificates and token files replaced by real ones."""
    pair, web_tokens, token = self_signed(folder), folder / "web_tokens", folder / "token"
    web_tokens.write_text(f"reader {'r' * 20}\nadmin {'a' * 20}\n")
    token.write_text("t" * 20)
    said = path.read_text()
    for name, file in (
        (r"\w+\.crt", pair.certificate), (r"\w+\.key", pair.key), ("web_tokens", web_tokens),
        (r"\w+_token", token),
    ):  # fmt: skip
        said = re.sub(f'"/etc/ragvigil/{name}"', f'"{file}"', said)
    config = folder / "ragvigil.toml"
    config.write_text(said)
    clean = {k: v for k, v in os.environ.items() if not k.startswith("RAGVIGIL_")}
    given = clean | {f"RAGVIGIL_{name}": f"{name}-secret" for name in tokens}
    command = [sys.executable, "-m", "ragvigil.app.cli.main", "check", "-c", str(config)]
    return subprocess.run(
        command, env=given, capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )


@pytest.mark.parametrize(
    "path", sorted((DEPLOY / "examples").iterdir()), ids=lambda path: path.name
)
def test_every_example_passes_the_check(path: Path, tmp_path: Path) -> None:
    ended = checked(path, tmp_path, *(TOKENS if path.name == "fleet.toml" else ()))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "the settings are valid" in ended.stdout
    assert "-secret" not in ended.stdout


def test_the_fleet_does_not_start_without_its_tokens(tmp_path: Path) -> None:
    ended = checked(DEPLOY / "examples/fleet.toml", tmp_path)
    assert ended.returncode == 2
    assert ended.stderr.count("lacks a token") == len(TOKENS)
