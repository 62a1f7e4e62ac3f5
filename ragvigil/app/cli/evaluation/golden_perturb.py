"""Perturbs the cases of a set's file. Needs no daemon."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from clustering.golden.case import BadCase
from ragvigil.app.cli.output.console import print_text
from ragvigil.evaluation.case import Case
from ragvigil.evaluation.case_line import case_of, chunk_of, line_of
from ragvigil.evaluation.perturb.corpus import Corpus
from ragvigil.evaluation.perturb.perturb_set import perturb_set
from ragvigil.model.figures import counted
from scorers.golden import Gold, numbered_lines

Parsed = TypeVar("Parsed")


def perturb_file(
    path: Path, out: Path | None, corpora: Sequence[Path], kinds: Sequence[str], *, seed: int
) -> int:
    """Writes the perturbed cases, on standard output where no file is named.

    Returns the exit status: 1 where a line was refused, 2 where a file cannot be read or written.
    What was not possible is counted on standard error.
    """
    refused: list[str] = []
    try:
        cases = list(_read(path, case_of, refused))
        chunks = [each for corpus in corpora for each in _read(corpus, _chunk, refused)]
        made = perturb_set(cases, Corpus([*_own(cases), *chunks]), kinds, seed=seed)
        _write(out, [line_of(case) for case in made.cases])
    except (OSError, UnicodeDecodeError) as error:
        print_text(f"cannot go on: {error}", to=sys.stderr)
        return 2
    for line in refused:
        print_text(line, to=sys.stderr)
    print(f"{counted(len(made.cases), 'case')} of {len(cases)}", file=sys.stderr)
    for (kind, why), n in sorted(made.not_possible.items()):
        print_text(f"{kind}: not possible for {n}: {why}", to=sys.stderr)
    return 1 if refused else 0


def _own(cases: Sequence[Case]) -> Iterator[Gold]:
    """The chunks that the set's own cases bring."""
    for case in cases:
        yield from case.gold
        yield from case.context or ()


def _chunk(written: object, number: int) -> Gold:
    del number  # a chunk needs no name
    return chunk_of(written)


def _read(
    path: Path, parse: Callable[[object, int], Parsed], refused: list[str]
) -> Iterator[Parsed]:
    for number, line in numbered_lines(path.read_text("utf-8-sig")):
        try:
            yield parse(json.loads(line), number)
        except (BadCase, ValueError, RecursionError) as error:
            refused.append(f"{path}:{number}: {error}")


def _write(out: Path | None, lines: Sequence[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    if out is None:
        sys.stdout.write(text)
    else:
        out.write_text(text, encoding="utf-8")
