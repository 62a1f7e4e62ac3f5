"""Settings that are allowed but probably not meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from collector.spool.reserve import reserve_of, space_of
from ragvigil.app.settings import Settings
from ragvigil.app.settings.guards import doubts
from ragvigil.app.settings.installation import switched_off
from ragvigil.llm.settings import PROVIDERS, api_key
from scorers.judge.settings import JudgeSettings
from scorers.rubric import load_rubrics


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsWarning:
    """A setting that is allowed but surprises; `explanation` says what happens with it."""

    key: str
    explanation: str


def warnings(settings: Settings) -> Iterator[SettingsWarning]:
    """Settings that are allowed but probably not meant; without what only plug-ins could say."""
    for section in ("collector", "metrics", "web"):
        if getattr(settings, section).insecure:
            yield SettingsWarning(
                key=f"[{section}] insecure",
                explanation="tokens and texts cross the network in clear text, unless TLS is on",
            )
    if settings.data_dir.parts[:2] == ("/", "tmp"):
        yield SettingsWarning(
            key="data_dir",
            explanation="the spool lies in a folder that is emptied at boot: spans that were "
            "acknowledged and not yet stored would be lost",
        )
    for key, explanation in (*switched_off(settings), *doubts(settings)):
        yield SettingsWarning(key=key, explanation=explanation)
    yield from _about_the_disk(settings)
    yield from _about_the_judge(settings.judge)


def _about_the_disk(settings: Settings) -> Iterator[SettingsWarning]:
    """Whether the disk under `data_dir` is so small that most of it is reserve or store."""
    try:
        folders = (settings.data_dir, *settings.data_dir.absolute().parents)
        total = space_of(next(folder for folder in folders if folder.is_dir())).total
    except OSError:
        return  # the daemon says it when it starts
    reserve = reserve_of(total, settings.store.disk_reserve_bytes)
    if 4 * reserve > total:
        yield SettingsWarning(
            key="[store] disk_reserve_bytes",
            explanation=f"the disk under data_dir has {total >> 20} MB, and spans are refused "
            f"while less than {reserve >> 20} MB are free; give it 4 GB or more",
        )
    most = settings.store.max_bytes
    if not settings.store.url and most is not None and most + reserve > total:
        yield SettingsWarning(
            key="[store] max_bytes",
            explanation=f"the disk under data_dir has {total >> 20} MB: spans are refused before "
            f"the store reaches {most >> 20} MB and drops its oldest days",
        )


def _about_the_judge(judge: JudgeSettings) -> Iterator[SettingsWarning]:
    """What a judge that is switched on may surprise its owner with."""
    if not judge.model:
        return
    variable = PROVIDERS[judge.model.partition(":")[0]]
    if variable and api_key(judge) is None and not judge.base_url:
        yield SettingsWarning(
            key="[judge] key",
            explanation=f"no key is set and {variable} is empty: the daemon runs without a judge",
        )
    if judge.daily_tokens is None and judge.daily_money is None:
        yield SettingsWarning(
            key="[judge] daily_money",
            explanation="a day of judging has no limit; `ragvigil judge cost` says what it costs",
        )
    if not judge.is_sampling:
        yield SettingsWarning(
            key="[judge] sample_rate",
            explanation="the judge is off for every route: no rubric of a model says anything",
        )
    known = {name for name, rubric in load_rubrics().items() if rubric.judge is not None}
    for name in set(judge.rubrics) - known:
        yield SettingsWarning(
            key="[judge] rubrics",
            explanation=f"{name} is not judged; the judged ones are {', '.join(sorted(known))}",
        )
