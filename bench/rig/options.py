"""The command line of a benchmark."""

from __future__ import annotations

import argparse


def sized(doc: str | None, *, small: str = "a size for every commit") -> argparse.ArgumentParser:
    """A parser with `--small`; `--help` prints the benchmark's docstring `doc`."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help=small)
    return parser


def is_small(doc: str | None) -> bool:
    """Reads the command line of a benchmark that has no other option."""
    return bool(sized(doc).parse_args().small)


def explained(doc: str | None) -> argparse.Namespace:
    """Reads the command line of a benchmark that can also print what went wrong: `--explain`."""
    parser = sized(doc)
    parser.add_argument("--explain", action="store_true", help="print what went wrong")
    return parser.parse_args()
