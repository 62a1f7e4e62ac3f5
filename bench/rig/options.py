"""The command line of a benchmark."""

from __future__ import annotations

import argparse


def size_parser(doc: str | None, *, small: str = "a small run") -> argparse.ArgumentParser:
    """A parser with `--small`; `--help` prints the benchmark's docstring `doc`."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help=small)
    return parser


def parse_small(doc: str | None) -> bool:
    """Reads the command line of a benchmark that has no other option."""
    return bool(size_parser(doc).parse_args().small)


def parse_explain(doc: str | None) -> argparse.Namespace:
    """Reads the command line of a benchmark that can also print what went wrong: `--explain`."""
    parser = size_parser(doc)
    parser.add_argument("--explain", action="store_true", help="print what went wrong")
    return parser.parse_args()
