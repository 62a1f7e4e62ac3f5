"""The daemon loads no model library: only the child does."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"torch", "transformers", "sentence_transformers", "huggingface_hub", "numpy"}


@pytest.mark.parametrize("code", ["", "Inference(InferenceSettings()).embed([])"])
def test_the_parent_loads_no_library_of_models(code: str) -> None:
    program = (
        "import sys\n"
        "from ragvigil.inference.process import Inference\n"
        "from ragvigil.inference.settings import InferenceSettings\n"
        f"{code}\nprint(*sys.modules)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not (HEAVY - ({"numpy"} if code else set())) & set(done.stdout.split())
