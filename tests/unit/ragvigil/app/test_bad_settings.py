"""One file per message: its first line says what the settings answer to the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragvigil.app.settings import SettingsError, load

FOLDER = Path(__file__).resolve().parents[3] / "bad_settings"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_wrong_settings_are_refused_in_one_sentence(path: Path) -> None:
    expected = path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    with pytest.raises(SettingsError) as error:
        load(path)
    assert str(error.value) == expected
