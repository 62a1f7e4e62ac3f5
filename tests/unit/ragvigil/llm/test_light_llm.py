"""Importing the package loads no SDK: only opening a client does."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {"pydantic_ai", "openai", "anthropic", "boto3", "httpx", "httpx2", "opentelemetry"}


def test_the_client_is_imported_without_the_sdks_of_the_providers() -> None:
    code = "import sys, ragvigil.llm.client; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not HEAVY & set(done.stdout.split())


def test_a_client_of_one_provider_does_not_load_the_sdk_of_another() -> None:
    code = (
        "import sys; from ragvigil.llm.client import open_client; "
        "from ragvigil.llm.settings import LlmSettings; "
        "open_client(LlmSettings(model='openai:m', base_url='http://127.0.0.1:9')); "
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "openai" in loaded
    assert not {"anthropic", "boto3"} & loaded
