"""Where a model lies and which version it is; what is missing is said in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragvigil.extras import EMBEDDING, missing
from ragvigil.inference import weights
from ragvigil.inference.settings import PACKAGED
from ragvigil.inference.weights import NoModel, locate, version_of

pytestmark = pytest.mark.skipif(missing(EMBEDDING) != "", reason=missing(EMBEDDING))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "1_Pooling" / "config.json").write_text("{}")
    return folder


def test_a_folder_is_its_own_place(model: Path) -> None:
    assert locate(str(model)) == str(model)


def test_a_name_is_left_to_the_library() -> None:
    assert locate("someone/some-model") == "someone/some-model"


@pytest.mark.parametrize("name", [PACKAGED, f"sentence-transformers/{PACKAGED}"])
def test_the_default_comes_with_a_package(name: str) -> None:
    package = pytest.importorskip(weights.PACKAGE)
    assert Path(locate(name)) == package.get_model_path()


@pytest.mark.parametrize("name", ["/nowhere/model", "./nowhere", "~/nowhere/at/all"])
def test_a_folder_that_is_missing_is_named(name: str) -> None:
    with pytest.raises(NoModel, match=f"{name} is not a folder with a model"):
        locate(name)


def test_other_weights_other_names_and_moved_bytes_are_other_versions(model: Path) -> None:
    versions = {version_of(model)}
    (model / "model.safetensors").write_bytes(b"weightz")
    versions.add(version_of(model))
    (model / "1_Pooling" / "config.json").write_text("{ }")
    versions.add(version_of(model))
    (model / "1_Pooling" / "config.json").rename(model / "config.json")
    versions.add(version_of(model))
    assert len(versions) == 4


def test_a_readme_is_no_part_of_the_version(model: Path) -> None:
    before = version_of(model)
    (model / "README.md").write_text("about")
    assert version_of(model) == before
