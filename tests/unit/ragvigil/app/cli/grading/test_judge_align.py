"""`ragvigil judge align`, from labels and verdicts in the store to the line of the settings."""

from __future__ import annotations

import json
from pathlib import Path

from ragvigil.app.sources.judges import judge_source
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import labels
from ragvigil.store.scores.labels import Label
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.flow.test_api import Quiet
from tests.judged import ids, keep_judged, verdict
from tests.outcomes import NOW
from tests.served_api import commands

BARS = {"groundedness": 0.8}
LATER = NOW / 1e9 + 60


def test_the_value_that_people_share_is_named_with_kappa_before_and_after(
    store: Store, tmp_path: Path
) -> None:
    judging = judge_source(store, lambda: BARS, BARS, lambda: LATER)
    web = api(store, Quiet(), WebSettings(), judging=judging)
    with commands(web, tmp_path) as daemon:
        assert daemon.say("judge", "align").startswith("no label is on an answer")
        values = {number: number % 10 / 10 for number in range(80)}
        keep_judged(store, {number: [verdict(value)] for number, value in values.items()})
        said = [
            Label(
                label_id=str(number),
                rubric="groundedness",
                trace_id=ids(number)[0],
                record_id=ids(number)[1],
                time_unix_nano=NOW + number,
                value=float(value >= 0.4),
            )
            for number, value in values.items()
        ]
        store.write(labels.batch(said, NOW))
        (found,) = json.loads(daemon.say("judge", "align", "--json"))["alignments"]
        printed = daemon.say("judge", "align", "--rubric", "groundedness")
    assert (found["advice"], found["labels"], found["present"]) == ("change", 80, 0.8)
    assert found["fails_below"] == 0.35
    assert found["before"]["value"] < 0.5 < found["after"]["value"] == 1
    assert found["gain"]["low"] > 0
    assert "[scorers.fails_below] groundedness = 0.35" in printed
