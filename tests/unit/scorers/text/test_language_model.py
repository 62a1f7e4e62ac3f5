"""The mapped tables of languages answer as py3langid's own, and are not this process's memory."""

from __future__ import annotations

import lzma
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from ragvigil.app.process.tied import run_tied
from scorers.text import language_model
from scorers.text.language_model import mapped_identifier
from tests.patience import PATIENCE_SECONDS

TEXTS = (
    "The refund arrives on your card five to seven days after we have received the parcel.",
    "Die Rückzahlung ist fünf bis sieben Tage nach Eingang des Pakets auf Ihrer Karte.",
    "返金は、当社が荷物を受け取ってから五日から七日ほどでカードに届きます。",
    "Деньги вернутся на вашу карту через пять или семь дней после получения посылки.",
    "12.5 %",
    "",
)


@pytest.fixture(scope="module")
def own() -> Any:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def test_it_ranks_all_languages_as_the_model_in_memory(own: Any) -> None:
    mapped = mapped_identifier()
    assert isinstance(mapped.tk_nextmove, memoryview)
    assert [mapped.rank(text) for text in TEXTS] == [own.rank(text) for text in TEXTS]


def test_without_room_for_the_file_the_model_is_read_into_memory(
    own: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    monkeypatch.setattr(LanguageIdentifier, "from_model_file", lambda *_, **__: own)
    assert language_model.mapped_identifier() is own


@pytest.mark.parametrize("stored", [b"no archive", None], ids=["no zip", "not packed"])
def test_a_model_that_is_stored_in_another_way_is_read_into_memory(
    own: Any, stored: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / MODEL_FILE
    model.parent.mkdir(parents=True)
    model.write_bytes(lzma.compress(stored) if stored else b"plain")
    monkeypatch.setattr("py3langid.langid.MODEL_DIR", tmp_path)
    monkeypatch.setattr(LanguageIdentifier, "from_model_file", lambda *_, **__: own)
    assert mapped_identifier() is own


def test_it_is_mapped_where_no_cache_of_files_can_be_told_anything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("posix_fadvise", "fdatasync"):  # as on macOS
        monkeypatch.delattr(os, name, raising=False)
    assert isinstance(mapped_identifier().tk_nextmove, memoryview)


ANONYMOUS = """
import numpy
from pathlib import Path
from scorers.text.language import language
def anonymous_mb():
    status = Path("/proc/self/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0]) / 1024
before = anonymous_mb()
assert language("The parcel is sent on the next working day.") == "en"
print(anonymous_mb() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_the_detector_takes_a_quarter_of_its_tables_as_memory_of_its_own() -> None:
    done = run_tied([sys.executable, "-c", ANONYMOUS], seconds=PATIENCE_SECONDS)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 20  # 74 with the tables in memory
