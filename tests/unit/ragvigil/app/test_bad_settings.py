"""One file per message: its first line says what the settings answer to the rest.

A line that ends in … leaves out what changes with every scorer or pattern that is added.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ragvigil.app.settings import SettingsError, known_keys, load

FOLDER = Path(__file__).resolve().parents[3] / "bad_settings"
SECTIONS = {"_".join(path[:-1]) for path in known_keys()}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_wrong_settings_are_refused_in_one_sentence(path: Path) -> None:
    expected = path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    with pytest.raises(SettingsError) as error:
        load(path)
    message = str(error.value)
    assert message.startswith(expected.removesuffix("…"))
    assert message == expected or expected.endswith("…")


def test_every_section_has_a_wrong_example() -> None:
    sections = {
        "_".join(path[:-1]) or "top" for path in known_keys() if "_".join(path) not in SECTIONS
    }
    assert {name for name in sections if not list(FOLDER.glob(f"{name}_*.toml"))} == set()
