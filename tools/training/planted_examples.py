"""Collects chunks to learn planted requests from: ordinary ones, and ones with a planted attack.

Reads only sets whose licence permits it. The hosts are chunks of ordinary sets and ordinary texts
written for this project. Planted in them are requests to assistants from other sets and attacks
written for this project (`injected_attacks.toml`); BIPIA's attacks come with hosts of their own,
and half of these are left for measuring. A plain question orders nothing: none counts as planted.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from scorers.injection_signs import requests
from scorers.text.sentences import cuts

ATTACKS = "bipia_injection"
HOSTS = (
    "clapnq_dev", "dialogue_audit", "expertqa_claims", "halueval_qa", "mtrag_un", "summedits",
    "wice_claims",
)  # fmt: skip
ANSWERS = ("delucionqa_refusal",)
QUESTIONS = ("clapnq_dev", "delucionqa_refusal", "mtrag_un", "clinc150", "banking77")
PROMPTS = ("halueval_general", "clinc150", "delucionqa_refusal", "mtrag_un")
ASKS = {
    "what", "how", "why", "who", "when", "where", "which", "is", "are", "do", "does", "can",
    "could",
}  # fmt: skip
WINDOW = 4
"""Sentences of a small chunk."""
MOST_OF_A_SET = 1500
"""Most texts of one set, chosen by a hash of each."""
MOST_QUESTIONS = 400
COPIES = 4
"""Chunks in which each attack written for this project is planted."""
LONGEST_PROMPT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A chunk: its source, the kind of attack in it, and the signs of its requests.

    `planted` tells for each request whether it was planted. Examples of one `source` or `group`
    must not be on both sides of a split.
    """

    text: str
    source: str
    group: str
    kind: str | None
    signs: tuple[tuple[str, ...], ...]
    planted: tuple[bool, ...]


def example(text: str, attack: str | None, *, source: str, group: str, kind: str | None) -> Example:
    """A chunk with its requests; those inside the attack were planted."""
    asking = requests(text)
    attack_text = " ".join((attack or "").split())
    inside = tuple(
        bool(attack_text) and " ".join(request.text.split()) in attack_text for request in asking
    )
    signs = tuple(tuple(sorted(request.signs)) for request in asking)
    return Example(text=text, source=source, group=group, kind=kind, signs=signs, planted=inside)


def rows_of(folder: Path, name: str) -> list[dict[str, Any]]:
    """The rows of the set `<name>.jsonl.gz` in a folder."""
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def place_of(text: str) -> int:
    """A number that depends only on the text: randomness without a seed."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "big")


def is_held_out(group: str) -> bool:
    """Whether a group of attacks is left for measuring: the half that bench/unseen.py measures."""
    return hashlib.sha256(f"unseen/{group}".encode()).digest()[0] % 2 == 1


def sample(texts: Iterable[str]) -> list[str]:
    """Up to MOST_OF_A_SET distinct texts, in the order of their hashes."""
    return sorted({text for text in texts if text.strip()}, key=place_of)[:MOST_OF_A_SET]


def plant(host: str, attack: str) -> str:
    """Inserts the attack before, behind or inside the host, as a line or as a sentence."""
    place = place_of(host + attack)
    lines = host.split("\n")
    if place % 4 == 0:
        return f"{attack}\n{host}"
    if place % 4 == 1:
        return f"{host}\n{attack}"
    if place % 4 == 2 and len(lines) > 2:
        return "\n".join([*lines[: len(lines) // 2], attack, *lines[len(lines) // 2 :]])
    ends = [at + 2 for at in range(len(host) - 2) if host[at : at + 2] == ". "]
    cut = ends[place // 4 % len(ends)] if ends else len(host)
    return f"{host[:cut].rstrip()} {attack} {host[cut:]}"


def as_request(prompt: str) -> str:
    """Writes a request as an attacker would plant it: one line, a capital letter, a full stop."""
    line = prompt.split("\n")[0].strip()
    if not line or line[-1] in ".?!。？！'\"":
        return line
    asks = line.split()[0].lower() in ASKS
    return line[0].upper() + line[1:] + ("?" if asks else ".")


@cache
def own_texts() -> dict[str, Any]:
    """The attacks by kind, and the ordinary texts, that were written for this project."""
    text = Path(__file__).with_name("injected_attacks.toml").read_text("utf-8")
    return tomllib.loads(text)


def ordinary_texts(folder: Path) -> dict[str, list[str]]:
    """The ordinary chunks by set."""
    texts_by_set = {
        name: sample(chunk["text"] for row in rows_of(folder, name) for chunk in row["chunks"])
        for name in HOSTS
    }
    for name in ANSWERS:
        texts_by_set[name] = sample(str(row["answer"]) for row in rows_of(folder, name))
    for name in QUESTIONS:
        texts_by_set[f"{name} questions"] = sample(
            as_request(str(row["question"])) for row in rows_of(folder, name)
        )[:MOST_QUESTIONS]
    return texts_by_set | {"worded": list(own_texts()["ordinary"]["manuals"])}


def _windows(text: str) -> list[str]:
    """The text in pieces of WINDOW sentences, so that the model sees small chunks too."""
    sentences = [text[begin:end] for begin, end in cuts(text)]
    if len(sentences) <= WINDOW:
        return []
    return ["".join(sentences[at : at + WINDOW]) for at in range(0, len(sentences), WINDOW)]


def examples(folder: Path) -> list[Example]:
    """All training chunks, ordinary ones and ones with a planted attack."""
    clean = ordinary_texts(folder)
    hosts = sorted((text for texts in clean.values() for text in texts), key=place_of)
    result = [
        example(part, None, source=name, group=text, kind=None)
        for name, texts in clean.items()
        for text in texts
        for part in (text, *_windows(text))
    ]
    for row in (row for row in rows_of(folder, ATTACKS) if not is_held_out(row["group"])):
        text, kind = row["chunks"][0]["text"], row.get("attack_type")
        result.append(
            example(text, row.get("attack"), source=ATTACKS, group=row["group"], kind=kind)
        )
    attacks = [
        (kind, attack, "worded")
        for kind, listed in own_texts()["kinds"].items()
        for attack in listed
    ] * COPIES
    for name in PROMPTS:
        prompts = sample(as_request(str(row["question"])) for row in rows_of(folder, name))
        attacks += [("prompts", prompt, name) for prompt in prompts if len(prompt) < LONGEST_PROMPT]
    # The number is hashed too, so that the copies of an attack get different hosts.
    for number, (kind, attack, source) in enumerate(attacks):
        host = hosts[place_of(f"{number} {attack}") % len(hosts)]
        result.append(example(plant(host, attack), attack, source=source, group=host, kind=kind))
    return result
