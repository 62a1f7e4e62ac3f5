"""What the core is composed of."""

from __future__ import annotations

import re

from alerts.metrics import ScoreMetrics
from collector.fetch import TraceFetcher
from collector.route import RouteCap, RouteRules
from collector.spool_reader import SpoolReader
from ragvigil.app.pipeline import Parts
from ragvigil.app.runs import Runs
from ragvigil.app.settings import Settings
from ragvigil.app.sink import Sink
from ragvigil.store import traces
from ragvigil.store.store import Store
from scorers.runner import Runner


def assemble(settings: Settings, store: Store, runner: Runner, scores: ScoreMetrics) -> Parts:
    """The pipeline's parts, ready to run from the last checkpoint."""
    reader = SpoolReader(settings.data_dir / "spool")
    routes = settings.collector.routes
    rules = tuple((re.compile(rule), template) for rule, template in routes.rules.items())
    return Parts(
        reader=reader,
        fetcher=TraceFetcher(reader),
        runs=Runs(settings.collector.assembly),
        runner=runner,
        rules=RouteRules(rules=rules),
        routes=RouteCap(routes.max_routes),
        sink=Sink(
            store,
            scores,
            fails_below=runner.fails_below,
            settled_after=reader.checkpoint_of("core"),
        ),
        look_up=lambda trace_ids: traces.stored(store, trace_ids),
    )
