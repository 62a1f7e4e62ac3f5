"""The examples in the docstrings of reading spans are true."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import collector.citing
import collector.claims

MODULES = [
    *(
        f"collector.claims.{module.name}"
        for module in pkgutil.iter_modules(collector.claims.__path__)
    ),
    *(
        f"collector.citing.{module.name}"
        for module in pkgutil.iter_modules(collector.citing.__path__)
    ),
    "collector.claims.prompt_chunks",
    "collector.claims.prompt_match",
    "collector.claims.recover",
    "collector.record.remarks",
    "collector.record.route",
    "collector.record.tracestate",
    "collector.record.words",
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_are_true(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0
