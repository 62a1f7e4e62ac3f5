"""The topics of `ragvigil help`: each is a text in Markdown that is made from the code."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

EXIT_CODES = {
    0: "done",
    1: "done, and something was refused, could not be read, or fails: each is named on standard "
    "error; `demo`: it could not go on; `gate`: the new run is worse",
    2: "not done: wrong use, wrong settings, a folder or port that cannot be used, no daemon, no "
    "such id, an unreadable file",
    3: "`gate`: too few cases to say",
    130: "stopped by Ctrl-C; an import goes on where it was when it is run again",
}
SHELLS = ("bash", "zsh", "fish")


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic: its name as people type it, what it is in a few words, and its text."""

    name: str
    about: str
    text: Callable[[], str]


def find(words: Sequence[str]) -> Topic | None:
    """The topic of these words, or the only one that begins with them.

    >>> find(["record", "file"]).name
    'record-file-format'
    >>> find(["re"]) is None
    True
    """
    typed = "-".join(words).lower().replace(" ", "-").replace("_", "-")
    matches = [topic for topic in TOPICS if topic.name.startswith(typed)]
    exact = [topic for topic in matches if topic.name == typed]
    return (exact or matches)[0] if typed and (exact or len(matches) == 1) else None


def contents() -> str:
    """The list of topics."""
    width = max(len(topic.name) for topic in TOPICS)
    lines = [f"  {topic.name:<{width}}  {topic.about}" for topic in TOPICS]
    return "\n".join(
        [
            "topics, as in `ragvigil help exit codes`:",
            *lines,
            "",
            "commands: `ragvigil --help`, and `ragvigil help COMMAND` or `ragvigil COMMAND --help`",
        ]
    )


def _record_file() -> str:
    from ragvigil.app.cli.input.record_line import RECORD_KEYS

    return (
        "`ragvigil score FILE` reads JSON lines. A line is an object; every key may be missing, "
        f"and\na rubric that needs a missing one does not apply:\n\n{_list(RECORD_KEYS)}\n\n"
        'Example: `{"question": "How long?", "answer": "5 days [a].", '
        '"chunks": [{"id": "a", "text": "5 days."}]}`'
    )


def _label_file() -> str:
    from ragvigil.web.views.posts import LabelPost

    keys = {
        name: field.description or ("needed" if field.is_required() else "may be left out")
        for name, field in LabelPost.model_fields.items()
    }
    return (
        "`ragvigil labels import FILE` reads JSON lines, an object a line, or `.csv` with a "
        f"heading.\nA line needs a value, a label, or both:\n\n{_list(keys)}"
    )


def _replay_folder() -> str:
    from ragvigil.app.demo.recording import FOLDER

    return f"`ragvigil replay FOLDER` sends recorded requests again.\n\n{FOLDER}"


def _import_formats() -> str:
    from collector.backfill.sources import FORMATS

    texts = [
        inspect.cleandoc(importlib.import_module(f"collector.backfill.{name}").__doc__ or "")
        for name in FORMATS
    ]
    parts = [f"`{name}`: {text}" for name, text in zip(FORMATS, texts, strict=True)]
    return "\n\n".join(["`ragvigil import FORMAT SOURCE` reads these formats.", *parts])


def _metrics() -> str:
    from ragvigil.app.cli.help_tables import METRIC_MODULES, metrics_of

    lines = []
    for stage, modules in METRIC_MODULES.items():
        lines.append(f"\n{stage}\n")
        for row in metrics_of(modules):
            labels = f" by {', '.join(row.labels)}" if row.labels else ""
            lines.append(f"- `{row.name}` ({row.kind}{labels}): {row.text}")
    return "\n".join(["The daemon exposes these on `/metrics` of `[metrics] endpoint`.", *lines])


def _settings() -> str:
    from ragvigil.app.cli.help_tables import SECTIONS, settings_of

    lines = []
    for stage, sections in SECTIONS.items():
        lines.append(f"\n{stage}\n")
        for row in settings_of(sections):
            lines.append(f"- `[{row.section}] {row.key}` (`{row.default}`): {row.text}")
    heading = (
        "Keys of the settings file, each with its default. `ragvigil check --all` shows yours."
    )
    return "\n".join([heading, *lines])


def _environment() -> str:
    return _list(
        {
            "RAGVIGIL_CONFIG": "the settings file; else `ragvigil.toml` of the current folder",
            "RAGVIGIL_SECTION__KEY": "overrides a key of the file, as in "
            "`RAGVIGIL_JUDGE__SAMPLE_RATE=0.1`; lists and tables are JSON",
            "RAGVIGIL_URL": "the daemon that commands ask, like `--url`",
            "COLUMNS": "the width of tables; without it a pipe gets every line whole",
        }
    )


def _exit_codes() -> str:
    return _list({str(code): text for code, text in EXIT_CODES.items()})


def _completion() -> str:
    return (
        "`ragvigil --install-completion` adds completion to the shell it runs in "
        f"({', '.join(SHELLS)});\nopen a new shell afterwards. `ragvigil --show-completion` prints "
        "the script instead.\n\nCompleted are commands, options, and the values of options with "
        "known ones: rubrics,\nstates, formats, topics of this help."
    )


TOPICS = (
    Topic(name="record-file-format", about="what `ragvigil score` reads", text=_record_file),
    Topic(name="label-file-format", about="what `ragvigil labels import` reads", text=_label_file),
    Topic(name="replay-folder", about="what `ragvigil replay` reads", text=_replay_folder),
    Topic(name="import-formats", about="what `ragvigil import` reads", text=_import_formats),
    Topic(name="metrics", about="every metric that the daemon exposes", text=_metrics),
    Topic(name="settings", about="every key of the settings file", text=_settings),
    Topic(name="environment", about="variables of the environment", text=_environment),
    Topic(name="exit-codes", about="what the exit code of a command says", text=_exit_codes),
    Topic(name="completion", about="completion of commands by your shell", text=_completion),
)


def _list(texts: Mapping[str, str]) -> str:
    return "\n".join(f"- `{name}`: {text}" for name, text in texts.items())
