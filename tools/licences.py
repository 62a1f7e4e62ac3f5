"""`make check`: every library that ragvigil[all] installs has a licence that its users may accept.

Allowed are licences without conditions on the programs that use a library. Another one, or none, is
a line and the exit status 1: a person reads it, and adds a family below or a name with its reason.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement

PIECES = re.compile(r"[;()]|\bAND\b|\bOR\b|\bWITH\b")
ALLOWED = re.compile(
    r"(3-Clause |New )?BSD( License)?|0BSD|BSD-[23]-Clause|MIT( License|-0)?|ISC( License)?|ISCL"
    r"|Apache(-2\.0| 2\.0 License| Software License)|LLVM-exception|BSL-1\.0|PSF-2\.0|CNRI-Python"
    r"|Python Software Foundation License|Zlib|CC0-1\.0|The Unlicense|Unlicense"
    # Conditions on changes of its own files alone, which we do not make.
    r"|MPL-2\.0|MPL 2\.0|Mozilla Public License 2\.0"
)
READ = {
    "hdbscan": "its LICENSE file is BSD-3-Clause; the metadata say `OSI Approved` alone",
    "umap-learn": "its LICENSE.txt is BSD-3-Clause; the metadata say `OSI Approved` alone",
}


def licence_of(library: Distribution) -> str:
    """The licence that a distribution names: as an expression, by classifiers, or in words."""
    said = library.metadata
    if "License-Expression" in said:
        return said["License-Expression"]
    classifiers = said.get_all("Classifier") or []
    named = [line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License")]
    if not named and "License" in said:
        return said["License"].partition("\n")[0]
    return "; ".join(named)


def is_allowed(licence: str) -> bool:
    """Whether each part of it is of a known family.

    >>> is_allowed("Apache-2.0 WITH LLVM-exception"), is_allowed("MIT AND GPL-3.0"), is_allowed("")
    (True, False, False)
    """
    pieces = [piece.strip() for piece in PIECES.split(licence) if piece.strip()]
    return bool(pieces) and all(ALLOWED.fullmatch(piece) for piece in pieces)


def installed(
    name: str, extras: frozenset[str], known: set[tuple[str, frozenset[str]]]
) -> Iterator[Distribution]:
    """A distribution with these extras and all that it needs, as far as it is installed."""
    key = (name.lower().replace("_", "-"), extras)
    if key in known:
        return
    known.add(key)
    try:
        library = distribution(name)
    except PackageNotFoundError:  # for another platform, or of an extra that is not installed
        return
    yield library
    for line in library.requires or ():
        needed = Requirement(line)
        asked = ({"extra": extra} for extra in (*extras, ""))
        if needed.marker is None or any(needed.marker.evaluate(each) for each in asked):
            yield from installed(needed.name, frozenset(needed.extras), known)


def main() -> int:
    """Prints the libraries whose licence is not allowed; returns the exit status."""
    libraries = {
        each.name.lower(): each for each in installed("ragvigil", frozenset({"all"}), set())
    }
    wrong = [
        f"{name}: {licence_of(library) or 'names no licence'}"
        for name, library in sorted(libraries.items())
        if name not in READ and not is_allowed(licence_of(library))
    ]
    for line in wrong:
        print(line, file=sys.stderr)
    if not wrong:
        print(f"the licences of {len(libraries)} libraries are allowed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
