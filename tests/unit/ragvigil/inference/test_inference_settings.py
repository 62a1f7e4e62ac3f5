"""What the settings refuse."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from ragvigil.inference.settings import InferenceSettings


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("cpu_share", 0),
        ("cpu_share", float("nan")),
        ("threads", 0),
        ("cache_entries", -1),
        ("timeout_seconds", 0),
        ("memory_bytes", 1),
        ("model", "a key that there is not"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused(key: str, value: object) -> None:
    with pytest.raises(ValidationError, match=key):
        InferenceSettings.model_validate({key: value})
