"""Every setting of the daemon: a TOML file, overridden by `RAGVIGIL_*` variables, then flags."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, Field, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)
from pydantic_settings import SettingsError as BadVariable

from alerts.settings import AlertsSettings, MetricsSettings
from clustering.golden.settings import GoldenSettings
from clustering.settings import ClusteringSettings
from collector.settings import CollectorSettings
from ragvigil.app.settings.client import ClientSettings
from ragvigil.app.settings.fleet import ROLES_OF_ONE, FleetSettings, Role
from ragvigil.evaluation.gate.limits import GateSettings
from ragvigil.inference.settings import InferenceSettings
from ragvigil.model.endpoint import overlap
from ragvigil.model.plugin import others
from ragvigil.model.record import RagRecord
from ragvigil.store.settings import StoreSettings
from ragvigil.web.settings import WebSettings
from scorers.export.settings import ExportSettings
from scorers.judge.settings import JudgeSettings
from scorers.record_shape import measure
from scorers.rubric import GROUP, house_rubrics, use_own_files
from scorers.settings import ScorersSettings

PREFIX = "RAGVIGIL_"
CONFIG = "RAGVIGIL_CONFIG"
IN_FILE = "values of the settings file"
"""A keyword of `Settings` that no setting can have: it hands the file's values to pydantic."""
EXPECTED = {
    "dict_type": "must be a table",
    "model_type": "must be a section",
    "path_type": "must be a path",
    "tuple_type": "must be a list",
}
"""What is allowed, by the kind of pydantic's error, where its own text speaks of Python."""
SECRET = ("token", "key", "url")
"""Words in the names of keys whose values errors must not repeat."""
NOT_SETTINGS = {CONFIG, "RAGVIGIL_URL", "RAGVIGIL_BENCH_DATA", "RAGVIGIL_CLOCK"}
"""Variables with our prefix that are not settings; RAGVIGIL_URL is `--url` of a command."""
SERVICE_LINK = re.compile(
    r"RAGVIGIL_([A-Z0-9]+_)*?"
    r"(SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)"
)
"""What Kubernetes puts into the pods beside a Service called `ragvigil` or `ragvigil-…`."""


class SettingsError(Exception):
    """Wrong settings; `str(error)` has a line for each."""


class Settings(BaseSettings):
    """The settings of the daemon; every key has a default that works on one machine."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True
    )

    data_dir: Path = Field(
        default=Path("ragvigil-data"),
        description="folder of the spool, the embedded store and the keys; one daemon each",
    )
    fleet: FleetSettings = FleetSettings()
    collector: CollectorSettings = CollectorSettings()
    scorers: ScorersSettings = ScorersSettings()
    judge: JudgeSettings = JudgeSettings()
    inference: InferenceSettings = InferenceSettings()
    store: StoreSettings = StoreSettings()
    alerts: AlertsSettings = AlertsSettings()
    metrics: MetricsSettings = MetricsSettings()
    web: WebSettings = WebSettings()
    client: ClientSettings = ClientSettings()
    export: ExportSettings = ExportSettings()
    clustering: ClusteringSettings = ClusteringSettings()
    golden: GoldenSettings = GoldenSettings()
    gate: GateSettings = GateSettings()

    @model_validator(mode="after")
    def _has_a_server(self) -> Self:
        roles = self.fleet.roles
        if self.store.url or roles == ROLES_OF_ONE:
            return self
        if Role.SCORER in roles:
            raise ValueError(
                "[fleet] roles: a scorer reads what edges stored in a ClickHouse server: name it "
                "in [store] url, or leave out scorer and this daemon runs its local models itself"
            )
        other = next(role for role in ROLES_OF_ONE if role not in roles)
        raise ValueError(
            f"[fleet] roles: {roles[0]} alone needs an {other} elsewhere, over the same "
            f"ClickHouse server: name it in [store] url, or leave out roles and this daemon "
            f"does both"
        )

    @model_validator(mode="after")
    def _has_models_to_run(self) -> Self:
        if Role.SCORER in self.fleet.roles and not self.inference.enabled:
            raise ValueError(
                "[inference] enabled: false leaves a scorer nothing to do: take it out, or take "
                "scorer out of [fleet] roles"
            )
        return self

    @model_validator(mode="after")
    def _are_apart(self) -> Self:
        for (path, endpoint), (other, its) in combinations(endpoints(self).items(), 2):
            if overlap(endpoint, its):
                raise ValueError(
                    f"[{other[0]}] {other[1]}: {its} has the port of [{path[0]}] {path[1]} "
                    f"({endpoint}); every listener needs a port of its own"
                )
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 (pydantic names them)
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags win over the environment, the environment over the file."""
        assert isinstance(init_settings, InitSettingsSource)
        in_file = InitSettingsSource(settings_cls, init_settings.init_kwargs.pop(IN_FILE, {}))
        return init_settings, env_settings, in_file


def endpoints(settings: Settings) -> dict[tuple[str, str], str]:
    """The address of every listener, by the path of its setting."""
    return {
        ("collector", "grpc_endpoint"): settings.collector.grpc_endpoint,
        ("collector", "http_endpoint"): settings.collector.http_endpoint,
        ("metrics", "endpoint"): settings.metrics.endpoint,
        ("web", "endpoint"): settings.web.endpoint,
    }


def load(config: Path | None = None, **flags: Any) -> Settings:
    """Reads the settings of `config` (default `$RAGVIGIL_CONFIG`, else `ragvigil.toml`).

    `flags` that are None count as not given. Raises SettingsError with a sentence for each
    problem: section, key, value, what is allowed.
    """
    in_file = file_values(config, os.environ)
    unknown = list(_unknown_variables(os.environ))
    if unknown:
        raise SettingsError("\n".join(unknown))
    overrides = {key: value for key, value in flags.items() if value is not None}
    try:
        settings = Settings(**overrides | {IN_FILE: in_file})
    except BadVariable as error:
        raise SettingsError("\n".join(_not_json(error, os.environ))) from error
    except ValidationError as error:
        raise SettingsError("\n".join(_sentences(error))) from error
    own = use_own_files(settings.scorers.rubrics)
    unknown = list(unknown_rubrics(settings, house_rubrics() | own))
    # Rubrics of other distributions are not loaded here: with any, their loader checks names.
    if unknown and not others(GROUP):
        raise SettingsError("\n".join(unknown))
    return settings


def origin(config: Path | None = None) -> str:
    """Which settings file `load` reads, and the variables that override it, in one line."""
    path = _path_of(config, os.environ)
    file = path.absolute() if path.exists() else f"no file, {path.absolute()} is not there"
    variables = ", ".join(_own_variables(os.environ))
    return f"settings: {file}{'; and of the environment ' if variables else ''}{variables}"


def unknown_rubrics(settings: Settings, known: Iterable[str]) -> Iterator[str]:
    """A sentence for each name in the settings that no rubric has, nor, in limits, a measure."""
    names = sorted(known)
    for key, used in (
        ("[scorers] disabled", settings.scorers.disabled),
        ("[scorers] fails_below", settings.scorers.fails_below),
        ("[export] rubrics", settings.export.rubrics),
        ("[web] label_queues", [queue.rubric for queue in settings.web.label_queues]),
    ):
        for name in used:
            if name not in names:
                yield f"{key}: {name} is not one of {', '.join(names)}"
    measures = measure(RagRecord(record_id="", trace_id=""))
    for limit in settings.alerts.limits:
        name = limit.signal.partition(":")[0]
        if name not in names and (limit.is_share or name not in measures):
            known_names = [*names, *([] if limit.is_share else sorted(measures))]
            yield f"[alerts] limits: {name} is not one of {', '.join(known_names)}"


def file_values(config: Path | None, environment: Mapping[str, str]) -> dict[str, Any]:
    """The values of the settings file; only the default file may be missing.

    Raises SettingsError.
    """
    path = _path_of(config, environment)
    if not path.exists():
        if config is not None or CONFIG in environment:
            raise SettingsError(f"{path}: there is no such settings file")
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SettingsError(f"{path}: is not a readable TOML file: {error}") from error


def _path_of(config: Path | None, environment: Mapping[str, str]) -> Path:
    return config or Path(environment.get(CONFIG, "ragvigil.toml"))


def known_keys(
    model: type[BaseModel] = Settings, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, ...]]:
    """The paths of all sections and keys, as in `("collector", "grpc_endpoint")`."""
    for name, field in model.model_fields.items():
        yield (*path, name)
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from known_keys(field.annotation, (*path, name))


def variable(path: tuple[str, ...]) -> str:
    """The environment variable of a key."""
    return PREFIX + "__".join(path).upper()


def _own_variables(environment: Mapping[str, str]) -> list[str]:
    """The variables that mean settings, by name."""
    is_pod = "KUBERNETES_SERVICE_HOST" in environment
    return [
        name
        for name in sorted(environment)
        if name.startswith(PREFIX)
        and name not in NOT_SETTINGS
        and not (is_pod and SERVICE_LINK.fullmatch(name))
    ]


def _unknown_variables(environment: Mapping[str, str]) -> Iterator[str]:
    known = {variable(path) for path in known_keys()}
    # A single underscore is the usual mistake: RAGVIGIL_STORE_URL for RAGVIGIL_STORE__URL.
    loose = {name.replace("__", "_"): name for name in known}
    for name in _own_variables(environment):
        if name in known:
            continue
        if any(name.startswith(f"{section}__") and _is_open(section) for section in known):
            continue
        meant = loose.get(name.replace("__", "_"))
        hint = f"did you mean {meant}?" if meant else "see `ragvigil check --all` for every key"
        yield f"{name}: there is no such setting; {hint}"


def _is_open(name: str) -> bool:
    """Whether a key is a mapping: its names are the user's own and cannot be listed."""
    path = tuple(name.removeprefix(PREFIX).lower().split("__"))
    model: type[BaseModel] = Settings
    for step in path[:-1]:
        annotation = model.model_fields[step].annotation
        assert isinstance(annotation, type)
        model = annotation
    return str(model.model_fields[path[-1]].annotation).startswith("dict")


def _not_json(error: BadVariable, environment: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each variable of a list or table that is not JSON; never its value."""
    text = getattr(error.__cause__, "doc", None)
    named = [name for name in sorted(environment) if name.startswith(PREFIX)]
    for name in [name for name in named if environment[name] == text] or [str(error)]:
        yield f'{name}: is not JSON; lists and tables are JSON there, as in ["a", "b"]'


def _sentences(error: ValidationError) -> Iterator[str]:
    for problem in error.errors():
        yield _sentence(problem["loc"], problem["type"], problem["msg"], problem.get("input"))


def _sentence(location: tuple[int | str, ...], kind: str, message: str, value: object) -> str:
    named = [str(step) for step in location if isinstance(step, str)]
    *sections, key = named or [""]
    where = f"[{'.'.join(sections)}] {key}" if sections else key
    if kind == "extra_forbidden":
        return f"{where}: there is no such key"
    reason = " ".join(message.removeprefix("Value error, ").split())
    if kind == "value_error":
        return f"{where}: {reason}" if where else reason
    allowed = EXPECTED.get(kind) or reason.replace("Input should be", "must be")
    if any(word in key for word in SECRET):
        return f"{where}: {allowed}"
    return f"{where}: {value!r} is not allowed: {allowed[0].lower()}{allowed[1:]}"
