"""`ragvigil check`: settings that are wrong (errors) or probably not meant (warnings)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

from ragvigil.app import plugins
from ragvigil.app.settings import Settings, unknown_rubrics
from ragvigil.app.settings import warnings as of_settings
from ragvigil.app.settings.guards import guards, require_folder, require_readable
from ragvigil.app.settings.in_force import plain
from ragvigil.app.settings.installation import require_installed
from ragvigil.app.settings.warnings import SettingsWarning
from scorers.rubric import load_rubrics


def warnings(settings: Settings) -> Iterator[SettingsWarning]:
    """Settings that are allowed but probably not meant, and plug-ins that do not load."""
    yield from of_settings.warnings(settings)
    for sentence in unknown_rubrics(settings, load_rubrics()):
        yield SettingsWarning(
            key=sentence.partition(":")[0],
            explanation=f"{sentence.partition(': ')[2]}; no plug-in brings it either",
        )
    for plugin in plugins.left_out():
        yield SettingsWarning(
            key=f"{plugin.group} {plugin.name} of {plugin.distribution}",
            explanation=f"this plug-in cannot be used, the daemon runs without it: {plugin.reason}",
        )


def report(settings: Settings, *, show_all: bool, as_json: bool) -> int:
    """Prints the warnings; returns the exit status, 0 even with warnings. Raises SettingsError."""
    require_readable(settings)
    require_folder(settings)
    require_installed(settings)
    found = list(warnings(settings))
    if as_json:
        listed = [asdict(warning) for warning in found]
        values = {"settings": plain(settings)} if show_all else {}
        print(
            json.dumps(
                {"errors": [], "warnings": listed, "listeners": guards(settings), **values},
                default=str,
            )
        )
        return 0
    if show_all:
        for key, value in plain(settings).items():
            print(f"{key} = {value}")
    for place, words in guards(settings).items():
        print(f"{place}: {words}")
    for warning in found:
        print(f"warning: {warning.key}: {warning.explanation}")
    print(f"the settings are valid; {len(found)} warning{'' if len(found) == 1 else 's'}")
    return 0
