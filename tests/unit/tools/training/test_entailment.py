"""Training of the entailment model, on a tiny encoder that the test makes."""

from __future__ import annotations

import string
from pathlib import Path

import pytest

from scorers.grounding.entailment import Support
from tools.training.entailment_pairs import Pair

pytestmark = pytest.mark.slow  # loads torch and transformers

COLOURS = ("red", "blue", "green", "grey", "black", "white")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an encoder of one layer that knows letters and colours."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel

    folder = tmp_path_factory.mktemp("base")
    words = ["[PAD]", *(f"[unused{place}]" for place in range(99)), "[UNK]", "[CLS]", "[SEP]"]
    letters = [*string.ascii_lowercase, *(f"##{letter}" for letter in string.ascii_lowercase), "."]
    vocabulary = {word: place for place, word in enumerate([*words, *letters, *COLOURS])}
    BertWordPieceTokenizer(vocabulary).save(str(folder / "tokenizer.json"))
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=64,
    )  # fmt: skip
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder


def colour_pairs() -> list[Pair]:
    """A door of one colour that is said to have this colour, or another."""
    return [
        Pair(
            source="test",
            group=colour,
            premise=f"a {colour} door.",
            sentence=f"it is {said}.",
            support=Support.SUPPORTED if said == colour else Support.CONTRADICTED,
            wrong=() if said == colour else ((6, 6 + len(said)),),
        )
        for colour in COLOURS
        for said in COLOURS
    ]


def test_a_run_that_was_stopped_ends_with_the_weights_of_one_that_was_not(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from tools.training import entailment

    monkeypatch.setattr(entailment, "KEPT_EVERY", 3)
    at_once = entailment.train(colour_pairs(), base, tmp_path / "once", 6)

    class Stopped(Exception):
        pass

    def stop_behind_the_checkpoint(_self: object, step: int, *_: object) -> None:
        if step == 5:
            raise Stopped

    with monkeypatch.context() as stopped:
        stopped.setattr(entailment.Log, "add", stop_behind_the_checkpoint)
        with pytest.raises(Stopped):
            entailment.train(colour_pairs(), base, tmp_path / "twice", 6)
    in_two = entailment.train(colour_pairs(), base, tmp_path / "twice", 6)
    pairs_of_weights = zip(at_once.parameters(), in_two.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs_of_weights)


def test_it_learns_what_the_premise_says(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tools.training import entailment
    from tools.training.entailment_measure import network_judge

    monkeypatch.setattr(entailment, "RATE", 2e-3)
    pairs = colour_pairs()
    network = entailment.train(pairs, base, tmp_path, 120)
    judged = network_judge(network, base)(pairs)
    right = [
        (row[Support.SUPPORTED] > 0.5) == (pair.support is Support.SUPPORTED)
        for pair, row in zip(pairs, judged, strict=True)
    ]
    assert all(right)


def test_only_the_wrong_part_of_a_sentence_is_labelled_wrong(base: Path) -> None:
    from tools.training.entailment_network import UNKNOWN, Texts

    pairs = [pair for pair in colour_pairs() if pair.group == "red"][:2]
    true, false = Texts(base).of_pairs(pairs)
    assert set(true.labels) == {UNKNOWN, Support.SUPPORTED}
    assert [label for label in false.labels if label != UNKNOWN].count(Support.CONTRADICTED) == 1
    assert false.types[-7:] == [1] * 7  # i ##t i ##s blue . [SEP]
    assert not any(false.types[:-7])


def test_a_judge_that_is_right_has_the_whole_area_and_trees_that_guess_half() -> None:
    from tools.training.entailment_measure import Measured, areas

    pairs = colour_pairs()
    answers = [
        Measured(
            group=pair.group,
            is_supported=pair.support is Support.SUPPORTED,
            trees=[0.5],
            pairs=[pair],
        )
        for pair in pairs
    ]
    figures = areas(answers, lambda asked: [(float(p.support == 0), 0, 1) for p in asked])
    assert (figures["answers"], figures["supported"]) == (36, 6)
    assert figures["entailment"] == [1.0, 1.0, 1.0]
    assert figures["trees"] == [0.5, 0.5, 0.5]
