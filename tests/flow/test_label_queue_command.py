"""`ragvigil labels queue` and `export`: what the page says, on a terminal."""

from __future__ import annotations

import csv
import io
import json
import time
from pathlib import Path

from ragvigil.app.sources.judges import judge_source
from ragvigil.store.engine.store import Store
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.flow.test_api import Quiet
from tests.judged import JUDGE, ids, keep_judged, verdict
from tests.served_api import commands

TOKENS = {"triager_token": "tr1ager", "reader_token": "r3ader"}


def test_the_next_answer_is_shown_blind_and_leaves_the_queue_once_labelled(
    store: Store, tmp_path: Path
) -> None:
    keep_judged(store, {1: [verdict(0.9)], 2: [verdict(0.1)]})
    judging = judge_source(store, lambda: ("groundedness",), {"groundedness": 0.8}, time.time)
    web = api(store, Quiet(), WebSettings.model_validate(TOKENS), judging=judging)
    with commands(web, tmp_path, TOKENS) as daemon:
        assert "0 of 2" in daemon.say("labels", "queue")
        said = daemon.say("labels", "queue", "sampled")
        assert "Do the chunks support every claim of the answer?" in said
        assert "question  How long?" in said
        assert JUDGE not in said
        assert "0.9" not in said
        shown = json.loads(daemon.say("labels", "queue", "sampled", "--json"))["answer"]
        row = {
            "rubric": "groundedness",
            "trace_id": shown["trace_id"],
            "record_id": shown["record_id"],
            "value": "fail",
            "comment": "=1+1",
        }
        file = tmp_path / "labels.jsonl"
        file.write_text(json.dumps(row))
        daemon.say("labels", "import", str(file))
        assert "1 of 2" in daemon.say("labels", "queue")
        left = json.loads(daemon.say("labels", "queue", "sampled", "--json"))["answer"]
        assert {shown["trace_id"], left["trace_id"]} == {ids(1)[0], ids(2)[0]}
        (line,) = csv.DictReader(io.StringIO(daemon.say("labels", "export")))
        assert (line["labeller"], line["value"], line["comment"]) == ("triager", "0.0", "'=1+1")
        assert json.loads(daemon.say("labels", "export", "--format", "jsonl"))["comment"] == "=1+1"
        assert "is not csv or jsonl" in daemon.say("labels", "export", "--format", "xml", status=2)
