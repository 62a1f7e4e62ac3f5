"""Change notices: within 15 requests, by the right name, and none when nothing changes.

Replays what the example service sends for each question, healthy and under each fault, and services
of other shapes.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from alerts.notices.detect import RouteNotices
from alerts.notices.fingerprint import Fingerprint, fingerprint_of
from alerts.notices.settings import NoticeSettings
from bench.rig.helpdesk_answers import HEALTHY, Asked, Told, answers, without_document_ids
from bench.rig.notice_faults import DAY, NAMED, WRONG_SHARE, FaultyService, Mode, Trouble
from bench.rig.notice_services import CHANGES, SHAPES, Service, right_kinds
from bench.rig.notice_tally import WITHIN, Tally
from bench.rig.options import size_parser
from bench.rig.report import finish, peak_rss_mb, progress
from examples.helpdesk.faults import Fault
from examples.helpdesk.traffic import Load, arrivals, day_factor
from ragvigil.model.notice import ChangeKind, Notice

SEED = 5
SECOND = 10**9
START = 1_767_225_600
PER_HOUR = 400
ROLLING = 0.3
LEAST = {"least_within": 0.95, "least_right": 0.95}
ROLLED_WITHIN = 50
"""Requests in which a change of 30 % shows as often as a whole one does in 15."""
RIGHT: dict[Fault, frozenset[ChangeKind]] = {
    # The same articles cut anew; the index version that the service sends says no more than that.
    Fault.CHUNKER_CHANGE: frozenset({ChangeKind.RECHUNKED}),
    Fault.EMBEDDER_CHANGE: frozenset({ChangeKind.EMBEDDING_MODEL}),
    Fault.RERANKER_OFF: frozenset({ChangeKind.RERANKER}),
    # No span says top-k: the collector counts what was retrieved, so both names say the same.
    Fault.TOP_K_DOUBLED: frozenset({ChangeKind.TOP_K, ChangeKind.CHUNK_COUNT}),
    # These three come with another system prompt.
    Fault.DROPPED_CITATIONS: frozenset({ChangeKind.PROMPT}),
    Fault.FABRICATED_QUOTES: frozenset({ChangeKind.PROMPT}),
    Fault.OVER_REFUSAL: frozenset({ChangeKind.PROMPT}),
    # The answer is cut by the limit that the request states.
    Fault.TRUNCATION: frozenset({ChangeKind.MAX_TOKENS}),
    # Older texts of some articles; pages of strangers beside the articles.
    Fault.STALE_CORPUS: frozenset({ChangeKind.DOCUMENTS}),
    Fault.INJECTED_DOCUMENT: frozenset({ChangeKind.DOCUMENTS}),
}
WITHOUT_NAMES = {Fault.EMBEDDER_CHANGE: frozenset({ChangeKind.REEMBEDDED})}
WITHOUT_IDS = {
    fault: frozenset({ChangeKind.REINDEXED})
    for fault in (Fault.CHUNKER_CHANGE, Fault.STALE_CORPUS, Fault.INJECTED_DOCUMENT)
}
Ask = Callable[[int, bool], Fingerprint]
"""The next request at a time in nanoseconds, changed or not."""


def replay(
    ask: Ask, chance: random.Random, *, share: float = 1.0, after: int = 60
) -> list[tuple[int, Notice]]:
    """A change after 210 to 500 requests; every notice, counted in requests since the change."""
    before = chance.randint(210, 500)
    detector: RouteNotices | None = None
    found = []
    for number in range(before + after):
        is_changed = number >= before and chance.random() < share
        answer = ask((START + 9 * number) * SECOND, is_changed)
        detector = detector or RouteNotices(answer.place, NoticeSettings())
        found += [(number - before + 1, notice) for notice in detector.step(answer)]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What the example service sends in one form: fingerprints by state and question."""

    name: str
    states: Mapping[str, Mapping[Asked, Fingerprint]]
    right: Mapping[Fault, frozenset[ChangeKind]]

    def asker(self, fault: Fault, route: str, chance: random.Random) -> Ask:
        """Questions of one route by chance."""
        questions = [key for key in self.states[HEALTHY] if key[0] == route]

        def ask(at: int, is_changed: bool) -> Fingerprint:
            state = fault if is_changed else HEALTHY
            return replace(self.states[state][chance.choice(questions)], time_unix_nano=at)

        return ask


def replays(told: Mapping[str, Mapping[Asked, Told]]) -> Iterator[Replay]:
    """As the service sends it, without any names and versions, and without document ids too."""

    def prints(of: Callable[[Told], Fingerprint]) -> dict[str, dict[Asked, Fingerprint]]:
        return {
            state: {key: of(answer) for key, answer in group.items()}
            for state, group in told.items()
        }

    yield Replay(
        name="as_sent", states=prints(lambda answer: fingerprint_of(answer.record, 0)), right=RIGHT
    )
    bare = RIGHT | WITHOUT_NAMES
    yield Replay(
        name="without_versions",
        states=prints(lambda answer: fingerprint_of(answer.bare, 0)),
        right=bare,
    )
    yield Replay(
        name="without_ids",
        states=prints(lambda answer: fingerprint_of(without_document_ids(answer.bare), 0)),
        right=bare | WITHOUT_IDS,
    )


def faults(replayed: Replay, runs: int, seed: int, *, share: float = 1.0) -> Tally:
    """Every fault on every route; `runs` a fault."""
    total = Tally()
    for fault in (fault for fault in Fault if fault in replayed.states):
        tally = Tally()
        routes = sorted({route for route, _ in replayed.states[HEALTHY]})
        for run in range(runs):
            chance = random.Random(f"{seed} {fault} {run}")
            ask = replayed.asker(fault, routes[run % len(routes)], chance)
            found = replay(ask, chance, share=share, after=60 if share == 1 else 150)
            tally.add(found, replayed.right[fault])
            total.add(found, replayed.right[fault])
        progress(f"{replayed.name} {share:.0%} {fault}: {tally.figures()}")
    return total


def other_services(runs: int, seed: int) -> Tally:
    """Every change that the traffic of a shape can show."""
    total = Tally()
    for shape in SHAPES:
        for change in CHANGES:
            right = right_kinds(shape, change)
            tally = Tally()
            for run in range(runs if right else 0):
                service = Service(shape, seed * 1000 + run)
                chance = random.Random(f"{seed} {shape.name} {change} {run}")
                found = replay(_ask_of(service, change), chance)
                for each in (tally, total):
                    each.add(found, right or frozenset())
            if right:
                progress(f"{shape.name} {change}: {tally.figures()}")
    return total


def _ask_of(service: Service, change: str) -> Ask:
    return lambda at, is_changed: service.request(at, change if is_changed else "")


def quiet(
    ask: Callable[[str, int], Fingerprint], routes: tuple[str, ...], days: float, seed: int
) -> dict[str, object]:
    """Days of traffic without any change at 400 requests an hour, by the hour of the day."""
    detectors: dict[str, RouteNotices] = {}
    load = Load(rate=PER_HOUR / 3600, seed=seed, diurnal=True, routes=routes)
    requests, found, spent = 0, Counter[str](), 0.0
    for at, question in arrivals(load, START):
        if at > START + days * 86_400:
            break
        answer = ask(f"{question.route}\n{question.text}", int(at * SECOND))
        detector = detectors.setdefault(
            question.route, RouteNotices(answer.place, NoticeSettings())
        )
        began = time.process_time()
        found.update(str(notice.kind) for notice in detector.step(answer))
        spent += time.process_time() - began
        requests += 1
    return {
        "requests": requests,
        "days": days,
        "false_notices": found.total(),
        "a_week": round(found.total() * 7 / days, 3),
        "kinds": dict(found),
        "microseconds_a_step": round(spent / requests * 1e6, 1),
    }


def quiet_traffic(replayed: Replay, days: float, seed: int) -> dict[str, dict[str, object]]:
    """On the example service, and on every other shape."""
    routes = tuple(sorted({route for route, _ in replayed.states[HEALTHY]}))
    known = {
        f"{route}\n{text}": answer for (route, text), answer in replayed.states[HEALTHY].items()
    }
    spare = {
        route: [answer for key, answer in known.items() if key.startswith(f"{route}\n")]
        for route in routes
    }

    def ask(question: str, at: int) -> Fingerprint:
        answer = known.get(question) or spare[question.partition("\n")[0]][len(question) % 5]
        return replace(answer, time_unix_nano=at)

    found = {"helpdesk": quiet(ask, routes, days, seed)}
    for number, shape in enumerate(SHAPES):
        services = {
            route: Service(shape, seed * 100 + 10 * number + place)
            for place, route in enumerate(routes)
        }

        def ask_one(question: str, at: int, services: dict[str, Service] = services) -> Fingerprint:
            return services[question.partition("\n")[0]].request(at)

        found[shape.name] = quiet(ask_one, routes, days, seed + number)
        progress(f"quiet {shape.name}: {found[shape.name]}")
    return found


def kind_matrix(runs: int, seed: int) -> tuple[dict[str, dict[str, int]], float]:
    """How each trouble was named, and the share of runs that were named rightly and once."""
    matrix: dict[str, dict[str, int]] = {}
    right = 0
    for trouble in Trouble:
        named = Counter[str]()
        for run in range(runs):
            kinds, fields = _names_of(trouble, seed * 1000 + run)
            named[" + ".join(sorted({*kinds, *fields})) or "nothing"] += 1
            right += (
                len(kinds) == bool(NAMED[trouble])
                and set(kinds) <= NAMED[trouble]
                and fields == (["blind"] if trouble is Trouble.NO_TEXTS else [])
            )
        matrix[trouble] = dict(named)
        progress(f"{trouble}: {matrix[trouble]}")
    return matrix, round(right / (runs * len(Trouble)), 4)


def _names_of(trouble: Trouble, seed: int) -> tuple[list[str], list[str]]:
    service, chance = FaultyService(Mode.CALM, seed), random.Random(seed)
    share = WRONG_SHARE if trouble is Trouble.WRONG_CHUNKS else 1.0
    detector: RouteNotices | None = None
    kinds: list[str] = []
    before = chance.randint(250, 700)
    for number in range(before + 100):
        is_changed = number >= before and chance.random() < share
        request = service.request(START + 9 * number, trouble if is_changed else None)
        detector = detector or RouteNotices(request.place, NoticeSettings())
        kinds += [str(notice.kind) for notice in detector.step(request)]
    assert detector is not None
    return kinds, ["blind" for _ in detector.sight.open]


def healthy_modes(days: float, seed: int) -> dict[str, dict[str, object]]:
    """Days of each healthy mode, four routes of 100 requests an hour by the hour of the day."""
    figures: dict[str, dict[str, object]] = {}
    for mode in Mode:
        found, requests = Counter[str](), 0
        for route in range(4):
            counted, kinds = _days_of(mode, days, seed * 100 + route)
            requests += counted
            found.update(kinds)
        figures[mode] = {
            "requests": requests, "days": days, "false_notices": found.total(),
            "kinds": dict(found),
        }  # fmt: skip
        progress(f"{mode}: {figures[mode]}")
    return figures


def _days_of(mode: Mode, days: float, seed: int) -> tuple[int, Counter[str]]:
    service, chance = FaultyService(mode, seed), random.Random(seed)
    detector: RouteNotices | None = None
    found = Counter[str]()
    # From ten in the morning: what is usual by day is known before the first night.
    begin = at = START + 10 * 3600
    requests = 0
    while at < begin + days * DAY:
        pause = chance.expovariate(100 / 3600 * day_factor(at % DAY))
        at += max(1, int(pause))
        request = service.request(at)
        detector = detector or RouteNotices(request.place, NoticeSettings())
        found.update(str(notice.kind) for notice in detector.step(request))
        found.update("blind" for _ in detector.sight.open)
        requests += 1
    return requests, found


def cost(told: Mapping[str, Mapping[Asked, Told]]) -> float:
    """Microseconds for the fingerprint of a record."""
    records = [answer.record for answer in told[HEALTHY].values()] * 20
    began = time.process_time()
    for record in records:
        fingerprint_of(record, 0)
    return round((time.process_time() - began) / len(records) * 1e6, 1)


def bars_of(
    tallies: Mapping[str, Tally],
    rolling: Mapping[str, Tally],
    silent: Mapping[str, Mapping[str, object]],
    modes: Mapping[str, Mapping[str, object]],
    named: float,
    *,
    least_within: float,
    least_right: float,
) -> dict[str, bool]:
    """What is promised."""
    return {
        f"noticed within 15 requests >= {least_within}": min(
            tally.within(WITHIN) for tally in tallies.values()
        )
        >= least_within,
        f"right kind, and only that, >= {least_right}": min(
            tally.right / tally.runs for tally in tallies.values()
        )
        >= least_right,
        f"at a share of 30 %: within 50 requests and right >= {least_right}": all(
            min(tally.within(ROLLED_WITHIN), tally.right / tally.runs) >= least_right
            for tally in rolling.values()
        ),
        "<= 1 false notice a week over 5 routes": all(
            float(str(figures["a_week"])) <= 1 for figures in silent.values()
        ),
        "no false notice in any healthy mode": not any(
            figures["false_notices"] for figures in modes.values()
        ),
        "every trouble named by its kind >= 0.95": named >= 0.95,
    }


def main() -> None:
    parser = size_parser(__doc__, small="few questions, faults, runs and days")
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args()
    small, seed = given.small, given.seed
    chosen = (
        [Fault.CHUNKER_CHANGE, Fault.RERANKER_OFF, Fault.STALE_CORPUS] if small else list(Fault)
    )
    told = answers(chosen, most=8 if small else 1000)
    forms = list(replays(told))
    runs, days = (4, 1.0) if small else (20, 28.0)
    whole = {form.name: faults(form, runs, seed) for form in forms}
    rolling = {form.name: faults(form, runs, seed, share=ROLLING) for form in forms}
    others = other_services(2 if small else 20, seed)
    silent = quiet_traffic(forms[0], days, seed)
    modes = healthy_modes(0.25 if small else days, seed)
    matrix, named = kind_matrix(1 if small else 20, seed)
    tallies = {**whole, "other_services": others}
    figures: dict[str, object] = {
        "whole": {name: tally.figures() for name, tally in tallies.items()},
        "rolling": {
            name: tally.figures() | {"within_50": tally.within(ROLLED_WITHIN)}
            for name, tally in rolling.items()
        },
        "quiet": silent,
        "modes": modes,
        "kinds": matrix,
        "kinds_right": named,
        "microseconds_a_fingerprint": cost(told),
        "peak_rss_mb": peak_rss_mb(),
    }
    # Two runs of a change cannot show a share of 0.95.
    # A small run has a dozen changes of each service: one of them may be named wrong.
    least = {"least_within": 0.85, "least_right": 0.75} if small else LEAST
    bars = bars_of(tallies, rolling, silent, modes, named, **least)
    finish("notices", figures, bars, seed=seed)


if __name__ == "__main__":
    main()
