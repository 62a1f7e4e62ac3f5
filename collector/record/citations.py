"""Finds the citations of an answer, in order of their position.

Citations that the user's code declares are used as they are. Otherwise these are used: the
provider's structured citations, or else those of a JSON answer, and the inline markers that no
structured citation covers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from collector.citing import markers, providers
from collector.citing.markers import Mark
from collector.citing.quotations import quotations, quotes_of_groups
from collector.citing.sentences import Sentences
from collector.citing.targets import Targets
from collector.claims.documents import short_id
from collector.claims.payload import is_json_answer, unfenced
from collector.claims.recover import as_container, text, whole
from ragvigil.model.record import Citation, Document

JSON_LISTS = ("citations", "sources", "references", "quotes", "evidence", "cited_sources")
MOST_CITATIONS = 5_000
"""Of one answer: each repeats the id of its chunk. `RagRecord.truncated` names the citations of an
answer with more."""
JSON_IDS = ("chunk_id", "id", "doc_id", "document_id", "source_id", "source", "ref", "file_name",
            "filename", "title", "url", "name", "index", "number", "source_number")  # fmt: skip
JSON_QUOTES = ("quote", "quotes", "text", "excerpt", "cited_text", "span", "snippet", "evidence")
GAP = " \t,;"
"""The characters that may stand between the markers of a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationSource:
    """Where citations are searched: the answer, the model's reply, the raw response, the chunks."""

    answer: str
    reply: str = ""
    raw: object = None
    declared: object = None
    context: Sequence[Document] = ()
    others: Sequence[Document] = ()
    prompt: str = ""


def citations(of: CitationSource) -> tuple[Citation, ...]:
    """The first MOST_CITATIONS; `chunk_id` is None if one points at nothing in the record."""
    return tuple(_all(of)[:MOST_CITATIONS])


def _all(of: CitationSource) -> list[Citation]:
    targets = Targets(of.context, of.others, of.prompt)
    if isinstance(of.declared, list):
        return list(_declared(of.declared, targets))
    structured = _structured(of, targets) or _from_json(of, targets)
    covered = {citation.marker for citation in structured if citation.marker}
    marks = [m for m in markers.find(of.answer, targets)
             if of.answer[m.start : m.end] not in covered]  # fmt: skip
    # The provider cites without markers: then brackets in the text are not read as citations.
    if structured and not covered:
        marks = []
    inline = _inline(of.answer, marks)
    merged = [*structured, *inline]
    starts = [citation.start for citation in merged if citation.start is not None]
    if len(starts) == len(merged):  # without all positions the order stays as it is
        merged.sort(key=lambda citation: citation.start or 0)
    return merged


def _inline(answer: str, marks: Sequence[Mark]) -> list[Citation]:
    if not marks:
        return []
    rows = _rows(answer, marks)
    claims = _claims(answer, rows)
    places = [((row[0].start, max(mark.end for mark in row)), claim)
              for row, claim in zip(rows, claims, strict=True)]  # fmt: skip
    quotes = quotes_of_groups(quotations(answer), answer, places)
    result = []
    for row, claim, quote in zip(rows, claims, quotes, strict=True):
        owner = _owner(row, quote)
        for index, mark in enumerate(row):
            result.append(_citation(answer, mark, claim, quote if index == owner else None))
    return result


def _claims(answer: str, rows: Sequence[Sequence[Mark]]) -> list[tuple[int, int]]:
    """The sentence of each row of markers.

    If two rows are in one sentence, each supports the part in front of it.
    """
    sentences = Sentences(answer)
    claims: list[tuple[int, int]] = []
    previous: Sequence[Mark] | None = None
    for row in rows:
        begin, end = row[0].claim or sentences.claim_at(row[0].start)
        if previous is not None and begin == previous[0].start and previous[-1].end < row[0].start:
            gap = answer[previous[-1].end : end]
            begin = previous[-1].end + len(gap) - len(gap.lstrip())
        claims.append((begin, end))
        previous = row
    return claims


def _rows(answer: str, marks: Sequence[Mark]) -> list[list[Mark]]:
    """Groups markers that stand side by side: they support the same sentence."""
    rows: list[list[Mark]] = []
    for mark in marks:
        if rows and not answer[rows[-1][-1].end : mark.start].strip(GAP):
            rows[-1].append(mark)
        else:
            rows.append([mark])
    return rows


def _owner(row: Sequence[Mark], quote: str | None) -> int:
    """The index of the marker that a quotation belongs to: its chunk has it, else the first."""
    if quote is None or len(row) == 1:
        return 0
    beginning = " ".join(quote.casefold().split()[:6])
    chunks: dict[str, int] = {}
    for index, mark in enumerate(row):
        if mark.chunk is not None:
            chunks.setdefault(mark.chunk.content or "", index)
    return next((index for text, index in chunks.items() if beginning in _squeezed(text)), 0)


@lru_cache(maxsize=64)
def _squeezed(content: str) -> str:
    """A chunk for comparison; kept, since several rows of markers may cite it."""
    return " ".join(content.casefold().split())


def _citation(answer: str, mark: Mark, claim: tuple[int, int], quote: str | None) -> Citation:
    return Citation(
        target=mark.target,
        chunk_id=mark.chunk.chunk_id if mark.chunk is not None else None,
        document_id=mark.chunk.document_id if mark.chunk is not None else "",
        index=mark.place,
        marker=answer[mark.start : mark.end],
        quote=quote,
        start=mark.start,
        end=mark.end,
        claim_start=claim[0],
        claim_end=claim[1],
        style=mark.style,
    )


def _structured(of: CitationSource, targets: Targets) -> list[Citation]:
    result = []
    for cited in providers.find(of.raw, of.answer):
        chunk = next((hit for name in cited.names if (hit := _by_any(targets, name))), None)
        if chunk is None and cited.place is not None and cited.place < len(of.context):
            chunk = of.context[cited.place]
        result.append(
            Citation(
                target=cited.names[0][:200] if cited.names else str(cited.place),
                chunk_id=chunk.chunk_id if chunk is not None else None,
                document_id=chunk.document_id if chunk is not None else "",
                index=cited.place,
                marker=cited.marker,
                quote=cited.quote,
                start=cited.start,
                end=cited.end,
                claim_start=cited.start,
                claim_end=cited.end,
                style=cited.style,
            )
        )
    return result


def _by_any(targets: Targets, name: str) -> Document | None:
    """A chunk by name or by its text: Bedrock's and Gemini's references contain the text."""
    return targets.by_name(short_id(name)) or targets.by_text(name)


def _from_json(of: CitationSource, targets: Targets) -> list[Citation]:
    """Citations of a JSON answer, fenced or not: `{"answer": …, "citations": [{"id", …}]}`."""
    source = of.reply or of.answer
    if not is_json_answer(source):
        return []
    container = as_container(unfenced(source)).value
    if not isinstance(container, dict):
        return []
    entries = next(
        (container[key] for key in JSON_LISTS if isinstance(container.get(key), list)), ()
    )
    return _declared(entries, targets, style="json")


def _declared(
    entries: Sequence[object], targets: Targets, *, style: str = "declared"
) -> list[Citation]:
    result = []
    for entry in entries:
        row = entry if isinstance(entry, dict) else {"id": entry}
        name = next((text(row[key]) for key in JSON_IDS if text(row.get(key))), "")
        chunk = targets.by_name(short_id(name))
        index = None
        if chunk is None and name.isdecimal() and len(name) < 5:
            chunk, index = targets.by_number(int(name))
        quote = next((row[key] for key in JSON_QUOTES if isinstance(row.get(key), str)), None)
        if not name and not quote:
            continue
        result.append(
            Citation(
                target=name,
                chunk_id=chunk.chunk_id if chunk is not None else None,
                document_id=chunk.document_id if chunk is not None else "",
                index=index,
                quote=text(quote).strip() or None,
                claim_start=whole(row.get("answer_start")),
                claim_end=whole(row.get("answer_end")),
                style=style,
            )
        )
    return result
