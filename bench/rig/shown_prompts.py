"""Generated prompts over chunks that are hard to tell apart, and which of them each prompt shows.

Chunks share headers, footers, boilerplate and templates, are versions of one another, lie within
others or overlap with them. Prompts show some of them: numbered, escaped, wrapped again, cut; and
beside them an instruction, an earlier turn that quotes chunks, and the question.
"""

from __future__ import annotations

import html
import json
import random
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ragvigil.model.record import Document

SYLLABLES = ("ar", "be", "con", "del", "er", "fi", "gra", "ho", "in", "ka", "lo", "men", "no", "or",
             "pa", "que", "re", "sti", "ta", "un", "ver", "wi", "yo", "zu")  # fmt: skip
SIGNS = "的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家"
ACCENTED = (
    "größe",
    "façade",
    "naïve",
    "Žižek",
    "niño",
    "“quoted”",
    "it's",
    "5 < 7",
    "R&D",
    "C:\\new",
)
CUT_MARKS = ("…", "...", " [...]", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A prompt, the chunks that were retrieved for it, and the ids that it shows in its order."""

    kind: str
    documents: tuple[Document, ...]
    prompt: str
    ids: tuple[str, ...]


Texts = list[str]
Chance = random.Random


def shown_prompts(count: int, chance: Chance) -> Iterator[Shown]:
    """Prompts of every kind of corpus in every form, in turn."""
    for number in range(count):
        corpus = CORPORA[number % len(CORPORA)]
        forms = WHOLE_FORMS if corpus in (_nested, _short) else FORMS
        yield _shown(corpus, forms[number // len(CORPORA) % len(forms)], chance)


def _shown(corpus: Corpus, form: Form, chance: Chance) -> Shown:
    texts = corpus(chance)
    chance.shuffle(texts)
    documents = tuple(
        Document(chunk_id=f"c{index}", content=text) for index, text in enumerate(texts)
    )
    picked = chance.sample(range(len(texts)), chance.randint(0, len(texts)))
    if chance.random() < 0.5:
        picked.sort()
    if form is _headless and len({text[-len(text) * 8 // 10 :] for text in texts}) < len(texts):
        form = _joined  # without their beginnings nothing would tell them apart
    is_cut = form in WHOLE_FORMS and chance.random() < 0.25
    cut = _cuts(texts, picked, chance) if is_cut else {}
    parts = [cut.get(index, texts[index]) for index in picked]
    extra = _extra(texts, chance)
    prompt = form(parts, extra, chance)
    name = f"{corpus.__name__.strip('_')}/{form.__name__.strip('_')}" + ("/cut" if cut else "")
    return Shown(kind=name, documents=documents, prompt=prompt,
                 ids=tuple(f"c{index}" for index in picked))  # fmt: skip


def _cuts(texts: Texts, picked: Sequence[int], chance: Chance) -> dict[int, str]:
    """Some of the texts cut off in a line, where no other text goes on alike."""
    cut: dict[int, str] = {}
    for index in picked:
        text = texts[index]
        size = chance.choice((len(text) * 6 // 10, len(text) * 8 // 10, 200, 300, 500))
        mark = chance.choice(CUT_MARKS)
        kept = text[:size].rstrip()
        is_told = not any(other.startswith(kept[: size - 60]) for at, other in enumerate(texts)
                          if at != index)  # fmt: skip
        inside = any(
            other in text or text in other for at, other in enumerate(texts) if at != index
        )
        breaks = size < len(text) and text[size : size + 1].isalnum() and text[size - 1].isalnum()
        if size >= 160 and is_told and breaks and not inside:
            cut[index] = kept + mark
    return cut


def _extra(texts: Texts, chance: Chance) -> Extra:
    """What stands beside the chunks: pieces of them that show none."""
    least = min(map(len, texts))
    first = texts[0].split("\n")[0][: least // 5]
    sentences = [line for text in texts for line in text.split(". ") if 20 < len(line) < least / 4]
    quoted = chance.sample(sentences, min(2, len(sentences)))
    return Extra(
        instruction="You answer questions about " + chance.choice((first, "our products")) + ". "
        + chance.choice(("", "Cite the number of the passage.", "Be short.")),
        earlier=[f"As I said: {line}." for line in quoted] if chance.random() < 0.4 else [],
        question="What about " + chance.choice((words(chance, 5), *quoted)) + "?",
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """The rest of a prompt."""

    instruction: str
    earlier: list[str]
    question: str

    def around(self, context: str) -> str:
        """The prompt with this context."""
        turns = "".join(f"{turn}\n\n" for turn in self.earlier)
        asked = f"Question: {self.question}\nAnswer:"
        return f"{self.instruction}\n\n{turns}Context:\n{context}\n\n{asked}"


Corpus = Callable[[Chance], Texts]
Form = Callable[[Sequence[str], Extra, Chance], str]


def word(chance: Chance) -> str:
    """A made-up word."""
    if chance.random() < 0.02:
        return chance.choice(ACCENTED)
    return "".join(chance.choices(SYLLABLES, k=chance.randint(1, 4)))


def words(chance: Chance, count: int) -> str:
    """So many words."""
    return " ".join(word(chance) for _ in range(count))


def sentence(chance: Chance) -> str:
    """A sentence of six to sixteen words, with a number now and then."""
    number = f" {chance.randint(2, 900)}" if chance.random() < 0.3 else ""
    return words(chance, chance.randint(6, 16)).capitalize() + number + "."


def body(chance: Chance, sentences: int) -> str:
    """Paragraphs of sentences."""
    text = ""
    for _ in range(sentences):
        text += sentence(chance) + chance.choice((" ", " ", " ", "\n", "\n\n"))
    return text.strip()


def _count(chance: Chance) -> int:
    return chance.randint(3, 12)


def _headed(chance: Chance) -> Texts:
    """Articles under one header, over one footer."""
    header, footer = words(chance, chance.randint(6, 40)), body(chance, chance.randint(1, 4))
    return [
        f"{header}\n\n{body(chance, chance.randint(1, 9))}\n\n{footer}"
        for _ in range(_count(chance))
    ]


def _boilerplate(chance: Chance) -> Texts:
    """Long legal text around two sentences of each."""
    before, after = body(chance, 6), body(chance, 8)
    return [
        f"{before} {sentence(chance)} {sentence(chance)} {after}" for _ in range(_count(chance))
    ]


def _versions(chance: Chance) -> Texts:
    """One article for many products: a few words differ."""
    article = body(chance, chance.randint(3, 12)).split(" ")
    places = chance.sample(range(len(article)), min(len(article), chance.randint(1, 4)))
    texts = {" ".join(article)}
    while len(texts) < 6:
        changed = list(article)
        for place in places:
            changed[place] = f"{word(chance)}{chance.randint(0, 999)}"
        texts.add(" ".join(changed))
    return sorted(texts)


def _templates(chance: Chance) -> Texts:
    """Records of a table, a field a line."""
    names = [word(chance) + word(chance) for _ in range(chance.randint(4, 14))]
    fixed = {name: words(chance, 6) for name in chance.sample(names[1:], len(names) // 2)}
    return [
        "\n".join(f"{name}: {fixed.get(name) or words(chance, 3)} {'' if name in fixed else number}"
                  for name in names)
        for number in chance.sample(range(10_000), _count(chance))
    ]  # fmt: skip


def _nested(chance: Chance) -> Texts:
    """Sections, and paragraphs within them."""
    texts: Texts = []
    for _ in range(chance.randint(1, 3)):
        parts = [body(chance, chance.randint(2, 4)) for _ in range(chance.randint(2, 4))]
        texts += ["\n\n".join(parts), *chance.sample(parts, chance.randint(1, len(parts) - 1))]
    return texts


def _windows(chance: Chance) -> Texts:
    """A text cut into chunks that overlap by a fifth."""
    text = words(chance, 500)
    size = chance.choice((300, 500, 800))
    return [text[at : at + size].strip() for at in range(0, len(text) - size, size * 4 // 5)][:8]


def _short(chance: Chance) -> Texts:
    """Titles and single lines."""
    return list({words(chance, chance.randint(2, 9)) + f" {n}" for n in range(_count(chance))})


def _unspaced(chance: Chance) -> Texts:
    """Texts of a script without spaces, under one header."""
    header = "".join(chance.choices(SIGNS, k=30))
    return [
        header + "\n" + "。".join("".join(chance.choices(SIGNS, k=20)) for _ in range(12)) + "。"
        for _ in range(_count(chance))
    ]


CORPORA: tuple[Corpus, ...] = (
    _headed, _boilerplate, _versions, _templates, _nested, _windows, _short, _unspaced,
)  # fmt: skip


def _joined(parts: Sequence[str], extra: Extra, chance: Chance) -> str:
    return extra.around(chance.choice(("\n\n", "\n", "\n---\n", "\n\n\n")).join(parts))


def _numbered(parts: Sequence[str], extra: Extra, chance: Chance) -> str:
    label = chance.choice(("[{}] ", "{}. ", "Passage {}: ", "Source {}:\n", "({}) ", "[{}] «"))
    end = "»" if label.endswith("«") else ""
    return extra.around(
        "\n\n".join(label.format(n) + part + end for n, part in enumerate(parts, start=1))
    )


def _bullets(parts: Sequence[str], extra: Extra, _: Chance) -> str:
    return extra.around("\n".join("- " + part.replace("\n", "\n  ") for part in parts))


def _elements(parts: Sequence[str], extra: Extra, _: Chance) -> str:
    return extra.around("\n".join(f'<document index="{n}">\n{part}\n</document>'
                                  for n, part in enumerate(parts, start=1)))  # fmt: skip


def _html(parts: Sequence[str], extra: Extra, chance: Chance) -> str:
    return _elements([html.escape(part) for part in parts], extra, chance)


def _json(parts: Sequence[str], extra: Extra, chance: Chance) -> str:
    is_ascii = chance.random() < 0.5
    rows = [{"id": n, "text": part} for n, part in enumerate(parts)]
    text = json.dumps(rows, ensure_ascii=is_ascii, indent=chance.choice((None, 2)))
    return extra.around(json.dumps(text) if chance.random() < 0.3 else text)


def _repr(parts: Sequence[str], extra: Extra, chance: Chance) -> str:
    return extra.around(str([f"Document({part!r})" if chance.random() < 0.2 else part
                             for part in parts]))  # fmt: skip


def _wrapped(parts: Sequence[str], extra: Extra, chance: Chance) -> str:
    width = chance.randint(40, 110)
    wrap = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    return extra.around("\n\n".join(map(wrap.fill, parts)))


def _squeezed(parts: Sequence[str], extra: Extra, _: Chance) -> str:
    return extra.around("\n".join(" ".join(part.split()) for part in parts))


def _headless(parts: Sequence[str], extra: Extra, _: Chance) -> str:
    """Each chunk without its first words, after a title."""
    return extra.around("\n\n".join(f"## {n}\n{part[min(30, len(part) // 10):]}"
                                    for n, part in enumerate(parts)))  # fmt: skip


def _edited(parts: Sequence[str], extra: Extra, _: Chance) -> str:
    """A note in the middle of each chunk of some length."""
    edited = []
    for part in parts:
        at = part.find(" ", len(part) // 2)
        edited.append(part[:at] + " (see below)" + part[at:] if len(part) > 300 <= at * 3 else part)
    return extra.around("\n\n".join(edited))


def _quoted(parts: Sequence[str], extra: Extra, _: Chance) -> str:
    return extra.around("\n\n".join("> " + part.replace("\n", "\n> ") for part in parts))


def _lines_numbered(parts: Sequence[str], extra: Extra, _: Chance) -> str:
    lines = [part.split("\n") for part in parts]
    return extra.around("\n\n".join(
        "\n".join(f"{n:>3}\t{line}" for n, line in enumerate(part, start=1)) for part in lines
    ))  # fmt: skip


def _emphasised(parts: Sequence[str], extra: Extra, _: Chance) -> str:
    """Long words in bold, quotes straight."""
    plain = [part.replace("“", '"').replace("”", '"') for part in parts]
    return extra.around("\n\n".join(re.sub(r"\b(\w{9,})\b", r"**\1**", part) for part in plain))


WHOLE_FORMS: tuple[Form, ...] = (
    _joined, _numbered, _bullets, _elements, _html, _json, _repr, _wrapped, _squeezed,
)  # fmt: skip
FORMS = (*WHOLE_FORMS, _quoted, _lines_numbered, _emphasised, _headless, _edited)
"""The last ones change the chunks themselves; of a title, or of a paragraph within another, little
would be left that tells it apart."""
