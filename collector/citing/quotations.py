"""Finds the quotations of an answer, and the markers that they belong to.

Quotation marks of many languages and block quotes make a quotation, never likeness to a chunk.
Names, titles, single words and short phrases in quotation marks quote nothing; nor does emphasis.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

# Straight marks open and close alike: one behind a digit is an inch, and an opening one is followed
# by no space. Pairs with one character are matched too, else their ends would pair with others.
QUOTATION = re.compile(
    r"“([^“”]{1,2000})”|„([^„“”\"]{1,2000})[“”\"]|«([^«»]{1,2000})»|»([^«»]{1,2000})«|"
    r"「([^「」]{1,2000})」|『([^『』]{1,2000})』|‹([^‹›]{1,2000})›|”([^“”]{1,2000})”|"
    r"(?<!\d)\"(?!\s)([^\"]{1,2000})(?<!\s)\"|‘([^‘’]{8,2000})’(?!\w)"
)
BLOCK = re.compile(r"^ {0,3}>[^\n]*(?:\n {0,3}>[^\n]*)*", re.MULTILINE)
BLOCK_SIGN = re.compile(r"^ {0,3}>[> ]*", re.MULTILINE)
CALLOUT = re.compile(
    r"\[!|\*\*|__|\W*(?:please )?(?:note|tip|hint|warning|caution|attention|important|summary"
    r"|disclaimer|hinweis|tipp|achtung|warnung|wichtig|remarque|conseil|nota|consejo|atención|advertencia"
    r"|importante|attenzione|suggerimento|atenção|dica|opmerking|let op|примечание|внимание|совет"
    r"|注意|提示|备注|備考|ヒント|참고|주의)\s*[:：]",
    re.IGNORECASE,
)
"""How a block begins that remarks on something: `[!NOTE]`, `**Tip**`, `Please note:`."""
SOURCE_LINE = re.compile(r"\n[ \t]*(?:[–—―]|--)[^\n]*$")
"""The last line of a block quote that names its source."""
MARKS = ' \n\t"“”„«»‹›「」『』‘’'
Quotation = tuple[int, int, str]
Row = tuple[tuple[int, int], tuple[int, int]]
"""The offsets of a row of markers, and of the sentence that it supports."""
LEAST_WORDS, LEAST_WITH_NUMBER = 4, 3
LEAST_UNSPACED, LEAST_UNSPACED_WITH_NUMBER = 8, 6
_SMALL_WORDS = (
    "a an the of and or nor in on at by to for from with as into over under vs v via per "
    "der die das des dem den ein eine und oder von vom zu zum zur im am auf aus mit für bei "
    "le la les du de un une et ou à au aux en sur dans pour par el los las y o del al con "
    "il lo gli i di da e ed nel nella della dei delle do dos das em no na het een van "
    "och og på w z и в на с о"
)
SMALL_WORDS = frozenset(_SMALL_WORDS.split())
"""Words that a title writes small; none of them is a verb, so that a statement has others."""
TITLE_SHARE = 0.5
"""Least share of a title's words that begin with a capital or are numbers."""
STEP = re.compile(r"\s*[>›»→]\s*")
MOST_STEP_WORDS = 4
"""Words of a step in a path through menus: *File > Save and close*."""
OPTION = re.compile(r"(?:^|\s)--?[a-zA-Z]")
"""An option of a command: `kubectl get pods -A`."""
EXAMPLE = re.compile(
    r"(?:\b(?:e\.\s?g\.|for (?:example|instance)|z\.\s?B\.|zum Beispiel|beispielsweise|p\.\s?ex\."
    r"|par exemple|por ejemplo|p\.\s?ej\.|per esempio|ad esempio|por exemplo|bijvoorbeeld|bijv\."
    r"|na przykład|np\.|например|напр\.|örneğin|til eksempel|till exempel)|مثلا|مثلاً|例如|比如|譬如"
    r"|例えば|たとえば|예를 들어|예컨대|उदाहरण के लिए)[\s,:،、：(（]*$",
    re.IGNORECASE,
)
"""Words right before a quotation that make it an example, not a passage."""
EXAMPLE_REACH = 32
"""Characters in front of a quotation in which these words are looked for."""
BEHIND = re.compile(r"\s*+[:,–—-]?\s*+")


def quotations(answer: str) -> list[Quotation]:
    """Quotations worth checking, in order and apart: start, end, and the quoted text."""
    marked = (
        (*match.span(), next(group for group in match.groups() if group is not None).strip())
        for match in QUOTATION.finditer(answer)
    )
    quotes = [
        (start, end, text)
        for start, end, text in marked
        if _is_quote(text) and not EXAMPLE.search(answer, max(0, start - EXAMPLE_REACH), start)
    ]
    if ">" not in answer:
        return quotes
    starts = [start for start, _, _ in quotes]
    # Quotation marks inside a block say which part of it is quoted.
    blocks = [
        block
        for block in _blocks(answer)
        if bisect_left(starts, block[0]) == bisect_left(starts, block[1])
    ]
    return sorted([*quotes, *blocks])


def _blocks(answer: str) -> Iterator[Quotation]:
    """Yields the block quotes of markdown, without their signs and the line of their source."""
    for match in BLOCK.finditer(answer):
        text = SOURCE_LINE.sub("", BLOCK_SIGN.sub("", match[0])).strip()
        if not CALLOUT.match(text) and _is_quote(text):
            yield (*match.span(), text)


def _is_quote(text: str) -> bool:
    """Whether a text in quotation marks may be a passage: long enough, no title and no input."""
    if OPTION.search(text) or _is_path(text):
        return False
    if not text.isascii() and sum(c > "\u2e7f" for c in text) > len(text) / 2:
        has_number = any(map(str.isdecimal, text))
        return len(text) >= (LEAST_UNSPACED_WITH_NUMBER if has_number else LEAST_UNSPACED)
    words = [word for word in map(_bare, text.split()) if word]
    has_number = any(word[0].isdecimal() for word in words)
    least = LEAST_WITH_NUMBER if has_number else LEAST_WORDS
    return len(words) >= least and not is_title(words)


def _is_path(text: str) -> bool:
    """Whether a text is a path through menus.

    >>> _is_path("File > Save and close"), _is_path("stop if p > 5")
    (True, False)
    """
    steps = STEP.split(text)
    return len(steps) > 1 and all(
        step[:1].isalpha() and len(step.split()) <= MOST_STEP_WORDS for step in steps
    )


def is_title(words: Sequence[str]) -> bool:
    """Whether words are written as a title or a name: all but small ones with a capital.

    >>> is_title("The Return of the King".split()), is_title("Card refunds take 5 days".split())
    (True, False)
    """
    capitals = sum(word[0].isupper() or word[0].isdecimal() for word in words)
    return (
        capitals >= TITLE_SHARE * len(words)
        and capitals + sum(word in SMALL_WORDS for word in words) == len(words)
        and any(word.istitle() and len(word) > 1 for word in words)  # all capitals are emphasis
    )


def _bare(word: str) -> str:
    """A word without the signs around it."""
    return word.strip("\"'’‘“”.,;:!?()[]{}<>*_`…–—-&/|")


def quotes_of_groups(
    quotes: Sequence[Quotation], answer: str, groups: Sequence[Row]
) -> list[str | None]:
    """For each row of markers the quotation that it supports; None if there is none.

    It is in front of the row, behind the previous row and in the row's sentence; else right behind
    the row (`[1]: "…"`), unless it belongs to the next row. Rows inside a quotation divide it.
    """
    if not quotes:
        return [None] * len(groups)
    parts = list(_divided(quotes, answer, groups))
    # In order and without overlap, so that those of a place are found by bisection.
    starts, ends = [part[0] for part in parts], [part[1] for part in parts]
    chosen: list[Quotation | None] = []
    previous_end = 0
    for (start, end), claim in groups:
        first = max(bisect_left(starts, previous_end), bisect_right(ends, claim[0]))
        before = parts[first : bisect_right(ends, start)]
        chosen.append(max(before, key=lambda part: len(part[2]), default=None))
        previous_end = end
    used = {part[0] for part in chosen if part is not None}
    by_start = {part[0]: part for part in parts if part[0] not in used}
    for index, (row, _) in enumerate(groups):
        if chosen[index] is None:
            gap = BEHIND.match(answer, row[1])
            chosen[index] = by_start.get(gap.end() if gap else row[1])
    return [part[2] if part is not None else None for part in chosen]


def _divided(
    quotes: Sequence[Quotation], answer: str, groups: Sequence[Row]
) -> Iterator[Quotation]:
    """Yields the quotations; of those with rows of markers inside, the stretches between them."""
    rows = [row for row, _ in groups]
    for begin, end, text in quotes:
        inside = rows[bisect_left(rows, (begin, 0)) : bisect_left(rows, (end, 0))]
        if not inside:
            yield begin, end, text
            continue
        edges = [begin, *(edge for row in inside for edge in row), end]
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            stretch = BLOCK_SIGN.sub("", answer[start:stop]).strip(MARKS)
            if any(map(str.isalnum, stretch)):
                behind = answer[start:stop]
                yield start + len(behind) - len(behind.lstrip()), stop, stretch
