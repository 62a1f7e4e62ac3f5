"""Is a quotation found out that leaves out what its claim depends on, and an honest one left alone?

Half of the quotations are of templates in ten languages, written apart from the scorer's words
(`rig/omission_templates.toml`); half are of real sentences of the labelled sets, in English, with a
*not*, *never*, *unless*, *only*, number or sentence end left out, or an aside, an adjective or a
whole sentence between two.
Run: `.venv/bin/python bench/omissions.py [--small]`; `--explain` prints what went wrong.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.rig.labelled import rows
from bench.rig.options import parse_explain
from bench.rig.report import finish, progress
from ragvigil.model.record import Citation, Document, RagRecord
from scorers.citation_validity import CitationValidity
from scorers.text.sentences import sentences

SEED = 15
CASES = {True: 60, False: 600}
"""Quotations of each kind at the small and at the whole size."""
LEAST_SEEN = 0.98
MOST_FALSE = 0.01
SETS = ("clapnq_dev", "expertqa_claims", "wice_claims", "trecqa_relevance", "mtrag_un")
SMALL_SETS = ("clapnq_dev", "expertqa_claims", "mtrag_un")
MARKS = ("…", " … ", "...", " ... ", " [...] ", " […] ", " (...) ", " . . . ")
UNSPACED = {"zh", "ja"}
LEFT_OUT = re.compile(r"\[\[(.*?)\]\]")
BAD_WORDS = {
    "never": r"never", "not": r"(?:is|was|were|are|does|do|did|can|could|would)(?: not|n't)",
    "unless": r"unless\b[^.,;()]{4,60}", "only": r"only", "number": r"\d+(?:[.,]\d+)*",
}  # fmt: skip
"""What is left out of a sentence with it, between two kept parts."""
ADJECTIVES = (
    "large|small|famous|popular|modern|ancient|young|old|new|beautiful|powerful|traditional|local"
    "|national|important|strong|dark|bright|American|British|French|German|long|short|early|late"
)
HONEST = {
    "bracket": r"\((?:[^()\d]{3,60})\)",
    "adjective": rf"(?<=\bthe )(?:{ADJECTIVES})(?= [a-z]{{4,}})",
    "relative": r"(?<=, )(?:which|who|whose|where)\b[^.,;()]{10,80},(?= [a-z]+ed\b| is\b| was\b)",
}
"""What is left out of a sentence that claims the same without it."""
TELLING = re.compile(r"(?i)\b(?:not|no|never|only|except|without|unless|if|less|more|most)\b|n't\b")
PART = re.compile(r"(?:\S+\s+){3}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A chunk and a quotation of it; `is_good` where it leaves out nothing that matters."""

    kind: str
    chunk: str
    quote: str
    is_good: bool


def from_templates(count: int, chance: random.Random) -> Iterator[Case]:
    """Yields bad and honest quotations in turn, over all templates of all languages."""
    path = Path(__file__).parent / "rig" / "omission_templates.toml"
    languages = tomllib.loads(path.read_text("utf-8"))
    for kind in ("bad", "honest"):
        templates = [(name, text) for name, listed in languages.items() for text in listed[kind]]
        for index in range(count):
            name, template = templates[index % len(templates)]
            filled = _fill(template, languages[name], chance)
            yield _case(f"template:{name}", filled, chance, is_good=kind == "honest",
                        is_spaced=name not in UNSPACED)  # fmt: skip


def _fill(template: str, listed: dict[str, Any], chance: random.Random) -> str:
    values = {name: chance.choice(listed[name]) for name in ("a", "b")}
    values["n"] = str(chance.choice((2, 5, 14, 30, 48)))
    return re.sub(r"\{(\w)\}", lambda match: values[match[1]], template)


def _case(
    kind: str, filled: str, chance: random.Random, *, is_good: bool, is_spaced: bool = True
) -> Case:
    """The case of a text whose omission, one of several by chance, is in double brackets."""
    chosen = chance.choice(list(LEFT_OUT.finditer(filled)))
    chunk = LEFT_OUT.sub(r"\1", filled)
    before = LEFT_OUT.sub(r"\1", filled[: chosen.start()]).rstrip()
    behind = LEFT_OUT.sub(r"\1", filled[chosen.end() :]).lstrip()
    mark = chance.choice(MARKS) if is_spaced else chance.choice(("……", "…", "..."))
    return Case(kind=kind, chunk=chunk, quote=before + mark + behind, is_good=is_good)


def texts(*, small: bool) -> list[str]:
    """The distinct chunks of the labelled sets."""
    chunks = (
        chunk["text"]
        for name in (SMALL_SETS if small else SETS)
        for row in rows(name, small=small)
        for chunk in row.get("chunks") or ()
    )
    return sorted(set(chunks))


def from_texts(chunks: Sequence[str], count: int, chance: random.Random) -> Iterator[Case]:
    """Yields quotations of real sentences, as many of each kind as there are, up to `count`."""
    cases = defaultdict(list)
    for chunk in chunks:
        for case in (*_of_words(chunk, chance), *_of_sentences(chunk, chance)):
            cases[case.kind].append(case)
    for is_good in (False, True):
        kinds = sorted(kind for kind, found in cases.items() if found[0].is_good == is_good)
        for kind in kinds:
            found = cases[kind]
            yield from chance.sample(found, min(len(found), count // len(kinds)))


def _of_words(chunk: str, chance: random.Random) -> Iterator[Case]:
    for sentence in sentences(chunk):
        for is_good, patterns in ((False, BAD_WORDS), (True, HONEST)):
            for kind, pattern in patterns.items():
                match = re.search(rf"(?<![\w.,-]){pattern}(?![\w-])", sentence.text)
                if match is None or (is_good and kind != "relative" and TELLING.search(match[0])):
                    continue
                before, behind = sentence.text[: match.start()], sentence.text[match.end() :]
                if not is_good and _is_aside(before, behind):
                    continue  # nothing that is kept depends on it
                if PART.search(before) and PART.search(behind):
                    marked = f"{before}[[{match[0]}]]{behind}"
                    yield _case(f"text:{kind}", marked, chance, is_good=is_good)


def _is_aside(before: str, behind: str) -> bool:
    is_between_commas = before.rstrip()[-1:] == "," == behind.lstrip()[:1]
    return is_between_commas or before.count("(") > before.count(")")


def _of_sentences(chunk: str, chance: random.Random) -> Iterator[Case]:
    """Leaves out the second of three sentences; or the end of one and the beginning of the next."""
    for first, second, third in zip(
        *(sentences(chunk)[start:] for start in range(3)), strict=False
    ):
        three = (first.text, second.text, third.text)
        if max(map(len, three)) > 200 or not all(PART.search(text) for text in three):
            continue
        if all(re.fullmatch(r"[A-Z][^.!?\n]*[.!?]", text) for text in three):
            whole = f"{first.text} [[{second.text}]] {third.text}"
            yield _case("text:sentence", whole, chance, is_good=True)
        head, tail = first.text.split(), second.text.split()
        if min(len(head), len(tail)) >= 8:
            cut = " ".join([*head[:5], "[[", *head[5:], *tail[:4], "]]", *tail[4:]])
            yield _case("text:joined", re.sub(r"\[\[ | \]\]", _bracket, cut), chance, is_good=False)


def _bracket(match: re.Match[str]) -> str:
    return match[0].strip()


def is_failed(case: Case) -> bool:
    """Whether the citation of a quotation is found invalid."""
    record = RagRecord(
        record_id="1", trace_id="1", answer=f'It says "{case.quote}" [a].',
        context=(Document(chunk_id="a", content=case.chunk),),
        citations=(Citation(target="a", chunk_id="a", quote=case.quote),),
    )  # fmt: skip
    return CitationValidity().score(record).value != 1.0


def main() -> None:
    """Measures and prints."""
    given = parse_explain(__doc__)
    small, explain = given.small, given.explain
    chance = random.Random(SEED)
    count = CASES[small] // 2
    cases = [*from_templates(count, chance), *from_texts(texts(small=small), count, chance)]
    failing: dict[str, dict[str, list[bool]]] = {
        "bad": defaultdict(list),
        "honest": defaultdict(list),
    }
    for case in cases:
        failed = is_failed(case)
        failing["honest" if case.is_good else "bad"][case.kind].append(failed)
        if explain and failed == case.is_good:
            progress(f"{case.kind} {'false' if failed else 'missed'}: {case.quote!r}")
    shares, counts = {}, {}
    for name, kinds in failing.items():
        every = [failed for found in kinds.values() for failed in found]
        shares[name], counts[name] = sum(every) / len(every), len(every)
    figures = {
        "seen": round(shares["bad"], 4),
        "false": round(shares["honest"], 4),
        "cases": counts,
        "failing": {
            name: {kind: [round(sum(f) / len(f), 3), len(f)] for kind, f in sorted(kinds.items())}
            for name, kinds in failing.items()
        },
    }
    bars = {
        f"seen >= {LEAST_SEEN}": shares["bad"] >= LEAST_SEEN,
        f"false <= {MOST_FALSE}": shares["honest"] <= MOST_FALSE,
    }
    finish("omissions", figures, bars, seed=SEED)


if __name__ == "__main__":
    main()
