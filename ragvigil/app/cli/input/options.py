"""Options that many commands have."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

USAGE = 2
"""Exit status of a command that was given something wrong."""
Config = Annotated[
    Path | None,
    typer.Option(
        "--config", "-c", help="Settings file; default $RAGVIGIL_CONFIG or ragvigil.toml."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document instead of a table.")]
Url = Annotated[
    str,
    typer.Option(
        "--url",
        envvar="RAGVIGIL_URL",
        show_envvar=False,
        help="The daemon's address, http://host:8088; default $RAGVIGIL_URL or [client] url.",
    ),
]


def _refuse_names(name: str | None) -> None:
    if name is not None:
        raise typer.BadParameter(
            "who acts is whose token it is: take the option out; "
            "commands send the token of [client] token_file"
        )


Gone = Annotated[
    str | None,
    typer.Option("--actor", "--by", "--labeller", hidden=True, callback=_refuse_names),
]
"""What named somebody before tokens did."""
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Also say which settings were read.")
]
chosen_url: ContextVar[str] = ContextVar("chosen_url", default="")
"""`--url` of the command that runs; empty where the settings decide."""

Command = Callable[..., None]


def reads_settings(command: Command) -> Command:
    """Gives a command that has `--config` the option `--verbose`."""

    @wraps(command)
    def run(*, verbose: bool = False, **values: Any) -> None:
        if verbose:
            _say_settings(values["config"])
        command(**values)

    return _with_options(run, command, verbose=(Verbose, False))


def asks_daemon(command: Command) -> Command:
    """Gives a command that has `--config` the options `--url` and `--verbose`."""

    @wraps(command)
    def run(
        *, url: str = "", verbose: bool = False, actor: str | None = None, **values: Any
    ) -> None:
        del actor  # refused when it is read
        if verbose:
            _say_settings(values["config"])
        with _reaching(url):
            command(**values)

    return _with_options(run, command, url=(Url, ""), verbose=(Verbose, False), actor=(Gone, None))


def words(*names: str) -> Callable[[str], list[str]]:
    """What the shell completes for a value that is one of these names."""

    def complete(incomplete: str) -> list[str]:
        return matching(names, incomplete)

    return complete


def rubric_names(incomplete: str) -> list[str]:
    """What the shell completes for the name of a rubric."""
    from scorers.rubric import load_rubrics

    return matching(sorted(load_rubrics()), incomplete)


def import_formats(incomplete: str) -> list[str]:
    """What the shell completes for the format of an import."""
    from collector.backfill.sources import FORMATS

    return matching(FORMATS, incomplete)


def matching(names: Sequence[str], incomplete: str) -> list[str]:
    """The names that begin with what was typed."""
    return [name for name in names if name.startswith(incomplete)]


def _say_settings(config: Path | None) -> None:
    from ragvigil.app.settings import origin

    print(origin(config), file=sys.stderr)


@contextmanager
def _reaching(url: str) -> Iterator[None]:
    token = chosen_url.set(url)
    try:
        yield
    finally:
        chosen_url.reset(token)


def _with_options(run: Command, command: Command, **options: tuple[Any, object]) -> Command:
    """`run` with the signature of `command` and these further options, which typer reads."""
    own = inspect.signature(command, eval_str=True)
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in options.items()
    ]
    known = [*own.parameters.values(), *added]
    run.__signature__ = own.replace(parameters=known)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in known}
    return run


def stop(sentence: str) -> NoReturn:
    """Ends a command that cannot go on: the sentence on standard error, and status 2."""
    from ragvigil.app.cli.output.console import print_text

    print_text(sentence, to=sys.stderr)
    sys.exit(USAGE)
