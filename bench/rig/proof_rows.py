"""The rows of `bench/proof.py`: what each must show, and the command that shows it."""

from __future__ import annotations

from dataclasses import dataclass

STORM = ("spans_acknowledged", "ledger.stored", "effects.records", "effects.rollup_records")
STORM += ("ready_seconds_max",)
TESTS = ("-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One promise. `small` and `full` are what follows the interpreter at each size.

    `shows` are the figures of the JSON line that the document gives, all numbers where none are
    named; a path of names may lead there (`ledger.stored`). `minutes` are those expected of the
    small and of the full size: they only set how long a row may take.
    """

    name: str
    what: str
    bar: str
    small: tuple[str, ...]
    full: tuple[str, ...]
    shows: tuple[str, ...] = ()
    minutes: tuple[float, float]

    def command(self, *, is_full: bool) -> tuple[str, ...]:
        """What follows the interpreter at a size."""
        return self.full if is_full else self.small


def _bench(
    name: str,
    what: str,
    bar: str,
    shows: tuple[str, ...],
    minutes: tuple[float, float],
    *,
    full: tuple[str, ...] = (),
) -> Row:
    path = f"bench/{name}.py"
    return Row(
        name=name,
        what=what,
        bar=bar,
        small=(path, "--small"),
        full=(path, *full),
        shows=shows,
        minutes=minutes,
    )


def _tests(name: str, what: str, bar: str, *paths: str, minutes: float = 1.0) -> Row:
    command = (*TESTS, *paths)
    return Row(
        name=name, what=what, bar=bar, small=command, full=command, minutes=(minutes, minutes)
    )


ROWS = (
    _tests(
        "spool_bytes",
        "the spool truncated at every byte, bits flipped in every field of a header",
        "always starts; nothing lost uncounted",
        "tests/unit/collector/spool",
    ),
    _bench(
        "kill_points",
        "kill -9 of intake or core at each named point of a write, under load",
        "0 lost, 0 twice, ready <= 10 s",
        ("kills", "kills_by_point", *STORM),
        (2.5, 40.0),
    ),
    _bench(
        "spool_crash",
        "power cuts on a disk that drops, tears and reorders what was not synced",
        "0 acknowledged lost; a writer that acknowledges first must lose",
        (),
        (0.3, 2.0),
    ),
    _bench(
        "kill_storm",
        "kill -9 of intake or core at random, under load",
        "0 lost, 0 twice, ready <= 10 s",
        ("kills", *STORM),
        (1.0, 25.0),
    ),
    _bench(
        "restarts",
        "the whole daemon killed and started at once, every core busy",
        "0 refused starts, 0 lost, ready <= 10 s",
        (),
        (1.0, 6.0),
    ),
    _bench(
        "clean_stops",
        "SIGTERM under load",
        "no error logged, 0 lost, 0 twice, status 0",
        ("stops", "spans_acknowledged", "ledger.stored", "stop_seconds_max", "lines_of_errors"),
        (1.0, 6.0),
    ),
    _bench(
        "judge_storm",
        "kill -9 of the core while the judge works",
        "every verdict once",
        (),
        (1.0, 8.0),
    ),
    _bench(
        "damage",
        "kinds of damage of spool and store",
        "starts and counts what is lost, or says in a sentence what to do",
        (),
        (1.0, 9.0),
    ),
    _bench(
        "full_disk",
        "a disk that is full under load, then has room again",
        "0 acknowledged lost; unready while full",
        (),
        (1.0, 4.0),
    ),
    _bench(
        "store_outages",
        "a ClickHouse server (stand-in) that is down, slow and read-only under load",
        "0 refused, 0 lost, catches up, few lines",
        (
            "outage_seconds",
            "spans_a_second",
            "spans_acknowledged",
            "caught_up_after_s",
            "lines_of_warning",
        ),
        (1.0, 60.0),
        full=("--seconds", "600"),
    ),
    _bench(
        "soak",
        "1,500 spans a second with judge and local models on, then twice as many for a minute",
        "0 refused, 0 lost, lag <= 5 s, memory grows by <= 50 MB",
        (
            *("minutes", "spans_acknowledged", "lag_median_s", "lag_p99_s", "lag_max_s"),
            *("lag_of_burst_max_s", "caught_up_after_s", "memory_mb", "memory_growth_mb"),
            "cpu_us_a_span",
        ),
        (1.0, 33.0),
    ),
    _bench(
        "reloads",
        "TLS certificates and tokens replaced under 500 spans a second",
        "0 failed requests",
        ("reloads", "requests", "spans_a_second", "statuses"),
        (0.5, 1.5),
    ),
    _bench(
        "judge_outages",
        "a judge that is down, slow, limited or malformed, and comes back",
        "said by `why` in time; no verdict lost",
        (),
        (1.0, 35.0),
    ),
    _tests(
        "clocks",
        "clocks that jump, late spans, spans sent twice",
        "windows right, nothing twice",
        "tests/flow/test_late_and_twice.py",
        "tests/unit/ragvigil/model/test_clock.py",
        "tests/unit/collector/assembly",
    ),
    _tests(
        "second_daemon",
        "a second daemon on the same directory or ports; other mistakes of a start",
        "one clear line, exit status not 0",
        "tests/flow/test_daemon.py",
        "tests/flow/test_mistakes.py",
        minutes=2.0,
    ),
    _tests(
        "otlp_musts",
        "the specification's MUSTs over gRPC, protobuf and JSON",
        "every one",
        "tests/flow/test_otlp_musts.py",
        "tests/flow/test_otlp_http.py",
    ),
    _tests(
        "api_schema",
        "requests drawn from the API's own schema, each route's permission",
        "no status 5xx; every route declares its permission",
        "tests/flow/test_openapi.py",
    ),
    _bench(
        "fuzz",
        "captured requests and drawn values, changed: decoders, spool, settings, judge, pages",
        "0 crashes, 0 inputs over 1 s of CPU; a planted fault is found",
        ("decoders", "spool", "settings", "judge replies", "pages"),
        (0.7, 50.0),
        full=("--seconds", "600"),
    ),
    _bench(
        "hostile",
        "hostile texts of up to 1 MiB among ordinary answers",
        "ordinary answers wait no second longer; what ends the core is quarantined alone",
        (),
        (1.5, 12.0),
    ),
    _bench(
        "connections",
        "idle and half-sent connections while spans arrive",
        "none refused, health answers",
        (),
        (0.5, 2.0),
    ),
    _bench(
        "redaction",
        "planted secrets through every listener: not a byte on the disk",
        "key formats >= 99 %; false marks counted",
        (),
        (0.5, 5.0),
    ),
    _tests(
        "secrets_leave_nowhere",
        "secrets and judge keys in logs, checks, dumps and requests",
        "none",
        "tests/flow/test_outgoing.py",
        "tests/flow/test_tokens.py",
    ),
    _tests(
        "erasure",
        "erasure by trace, user and session; replay after it; backup and restore",
        "0 bytes left after a forced merge; replay does not resurrect",
        "tests/flow/test_erasures_api.py",
        "tests/unit/ragvigil/app/erasure",
        "tests/flow/test_backup.py",
        minutes=2.0,
    ),
    _bench(
        "idle",
        "a daemon to which nothing is sent",
        "<= 1 % of a core, core <= 280 MB, intake <= 80 MB",
        ("seconds", "cpu_share", "core_mb", "intake_mb"),
        (0.5, 6.5),
    ),
    _bench(
        "footprint",
        "bytes and CPU of 1,000 answers by `store.spans`",
        "fewer spans kept, fewer bytes",
        ("answers", "bytes_in_all"),
        (0.5, 4.0),
    ),
    _bench(
        "ingest",
        "spans acknowledged, scored and stored, beside a bare loop of the same rows",
        ">= 0.5 of the loop; p99 <= 50 ms at half the rate",
        (),
        (1.0, 6.0),
    ),
    _tests(
        "fleet",
        "several edges and analysts over one store (the engine behind HTTP)",
        "nothing scored twice; a fenced analyst's rows are refused",
        "tests/flow/test_fleet_store.py",
        minutes=1.5,
    ),
)
