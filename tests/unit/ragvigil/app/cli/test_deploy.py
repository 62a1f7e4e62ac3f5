"""`ragvigil deploy print`: the shipped files, as a user without a checkout gets them."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from ragvigil.app.cli.deploy import Subject, deploy
from ragvigil.app.cli.deploy_files import BUNDLES, SOURCES
from ragvigil.shipped import SHIPPED


def printed(*arguments: str) -> str:
    done = CliRunner().invoke(deploy, ["print", *arguments])
    assert done.exit_code == 0, done.output
    return done.output


def written(subject: str, folder: Path) -> dict[str, str]:
    paths = printed(subject, "--to", str(folder)).splitlines()
    return {str(Path(path).relative_to(folder)): Path(path).read_text() for path in paths}


def test_every_subject_has_files() -> None:
    assert [subject.value for subject in Subject] == list(BUNDLES)


def test_a_single_file_is_printed_as_it_stands() -> None:
    assert printed("tee") == (SHIPPED / "deploy/otel-collector/tee.yaml").read_text()


def test_several_files_are_printed_with_their_names() -> None:
    text = printed("alertmanager")
    assert text.startswith("==> alertmanager.yml <==\n")
    assert "\n==> ragvigil.tmpl <==\n" in text


@pytest.mark.parametrize("subject", list(BUNDLES))
def test_what_is_written_is_what_is_printed(subject: str, tmp_path: Path) -> None:
    files = written(subject, tmp_path / "new" / "folder")
    text = printed(subject)
    assert files
    assert all(content in text for content in files.values())


def test_grafana_gets_dashboards_and_provisioning(tmp_path: Path) -> None:
    names = set(written("grafana", tmp_path))
    assert {"dashboards/overview.json", "provisioning/datasources/prometheus.yaml"} <= names


def test_prometheus_gets_the_rules_without_their_tests(tmp_path: Path) -> None:
    names = set(written("prometheus", tmp_path))
    assert {"prometheus.yml", "rules/quality.yml"} <= names
    assert not {name for name in names if "tests" in name}


def test_compose_finds_every_file_it_names_and_installs_this_release(tmp_path: Path) -> None:
    files = written("compose", tmp_path)
    folder = tmp_path / "deploy"
    compose = yaml.safe_load(files["deploy/compose.yaml"])
    for service in compose["services"].values():
        mounts = [mount.split(":")[0] for mount in service.get("volumes", ())]
        assert all((folder / source).exists() for source in mounts if source.startswith("."))
        if build := service.get("build"):
            assert (folder / build["context"] / build["dockerfile"]).is_file()
            assert build["args"]["INSTALL"] == f"ragvigil[all]=={version('ragvigil')}"
    assert SOURCES not in "".join(files.values())
    assert files["constraints.txt"]


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = CliRunner().invoke(deploy, ["print", "tee", "--to", str(tmp_path / "file" / "below")])
    assert done.exit_code == 2
    assert done.output.endswith("the files cannot be written: Not a directory\n")
    assert done.output.count("\n") == 1
