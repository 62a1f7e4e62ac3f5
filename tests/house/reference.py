"""docs/reference: every setting, metric, route of the API and command, generated from the code.

python -m tests.house.reference --write      writes them
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import typer
from typer.core import TyperCommand, TyperGroup

from ragvigil.app.cli.help_topics import TOPICS
from ragvigil.app.cli.main import app
from ragvigil.app.settings import Settings
from ragvigil.web.pages.addresses import every_route, permission_of
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import application
from tests.house.tables import READMES, ROOT, metrics_table, settings_table

NOTE = "Generated from the code by `make docs`; do not edit."


def settings() -> str:
    """Every section of the settings file."""
    sections = [
        name for name, field in Settings.model_fields.items() if hasattr(field.annotation, "mro")
    ]
    tables = [f"## {name}\n\n{settings_table((name,))}" for name in sections if name != "data_dir"]
    return _page(
        "Settings",
        "One TOML file (`ragvigil.toml`, `--config FILE` or `$RAGVIGIL_CONFIG`), then environment "
        "variables (`[judge] sample_rate` is `RAGVIGIL_JUDGE__SAMPLE_RATE`), then flags. "
        "`ragvigil check` says what is wrong with yours, `ragvigil check --all` shows every value.",
        f"`data_dir` (default `{Settings.model_fields['data_dir'].default}`): "
        f"{Settings.model_fields['data_dir'].description}.",
        *tables,
    )


def metrics() -> str:
    """Every metric on `/metrics`."""
    tables = [
        f"## {readme.partition('/')[0]}\n\n{metrics_table(modules)}"
        for readme, (_, modules) in READMES.items()
    ]
    return _page("Metrics", "What `127.0.0.1:9464/metrics` exposes, by stage.", *tables)


def api() -> str:
    """Every route of the API."""
    web = application(None, None, WebSettings())  # type: ignore[arg-type]
    lines = ["| route | needs | answers |", "|---|---|---|"]
    for route in sorted(every_route(web), key=lambda route: route.path):
        method = ", ".join(sorted(route.methods or ()))
        lines.append(f"| `{method} {route.path}` | {permission_of(route)} | {route.summary} |")
    return _page(
        "API",
        "HTTP on `127.0.0.1:8088`. `/api/v1/openapi.json` is the OpenAPI document with every "
        "parameter and form. *needs* is the permission that the token's role must have.",
        "\n".join(lines),
    )


def commands() -> str:
    """Every command with its options."""
    root = typer.main.get_command(app)
    assert isinstance(root, TyperGroup)
    blocks = [
        f"### ragvigil {name}\n\n{_first_line(command)}\n\n{_options(command)}".rstrip()
        for name, command in _leaves(root)
    ]
    return _page(
        "Commands",
        "`ragvigil COMMAND --help` says the same; `ragvigil --install-completion` adds completion "
        "to your shell.",
        *blocks,
    )


def topics() -> str:
    """Every topic of `ragvigil help`; those of settings and metrics have pages of their own."""
    own_pages = [topic for topic in TOPICS if topic.name not in ("settings", "metrics")]
    return _page(
        "Topics",
        "`ragvigil help TOPIC` says the same.",
        *(f"## {topic.name}\n\n{topic.text()}" for topic in own_pages),
    )


PAGES = {
    "settings": settings,
    "metrics": metrics,
    "api": api,
    "commands": commands,
    "topics": topics,
}


def _leaves(group: TyperGroup, prefix: str = "") -> Iterator[tuple[str, TyperCommand]]:
    for name, command in sorted(group.commands.items()):
        if isinstance(command, TyperGroup):
            yield from _leaves(command, f"{prefix}{name} ")
        elif isinstance(command, TyperCommand) and not command.hidden:
            yield f"{prefix}{name}", command


def _first_line(command: TyperCommand) -> str:
    return " ".join((command.help or "").partition("\n\n")[0].split())


def _options(command: TyperCommand) -> str:
    """A table of arguments and options; help itself is not listed."""
    rows = []
    for parameter in command.params:
        text = " ".join((getattr(parameter, "help", None) or "").split()).replace("|", "\\|")
        is_argument = parameter.param_type_name == "argument"
        name = (parameter.name or "").upper() if is_argument else ", ".join(parameter.opts)
        rows.append(f"| `{name}` | {text} |")
    return "\n".join(["| argument or option | meaning |", "|---|---|", *rows]) if rows else ""


def _page(title: str, *paragraphs: str) -> str:
    return "\n\n".join([f"# {title}", NOTE, *paragraphs]) + "\n"


if __name__ == "__main__" and "--write" in sys.argv:
    folder = ROOT / "docs" / "reference"
    folder.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (folder / f"{name}.md").write_text(page(), encoding="utf-8")
