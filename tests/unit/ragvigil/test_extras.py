"""What is missing is said without importing anything."""

from __future__ import annotations

import pytest

from ragvigil.extras import Ability, NotInstalled, missing, require

GONE = Ability(name="flying", extra="wings", modules=("json", "no_such_module"))


@pytest.mark.parametrize("module", ["no_such_module", "no_such_package.inside", "json.no_such"])
def test_a_module_that_is_not_there_is_missing(module: str) -> None:
    why = missing(Ability(name="flying", extra="wings", modules=("json", module)))
    assert why == (
        "flying needs ragvigil[wings], which is not installed: pip install 'ragvigil[wings]'"
    )


def test_nothing_is_missing_where_all_modules_are_there() -> None:
    assert missing(Ability(name="reading", extra="none", modules=("json", "email.message"))) == ""


def test_what_is_required_and_missing_is_an_error_of_one_line() -> None:
    with pytest.raises(NotInstalled) as told:
        require(GONE)
    assert str(told.value) == missing(GONE)
