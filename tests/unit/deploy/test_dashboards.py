"""The dashboards as files: made by the code, explained, and true to the house's rules."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from deploy.grafana import make
from deploy.grafana.overview import LAYERS
from ragvigil.app.cli.help_tables import metrics_of
from ragvigil.model.score import Layer
from ragvigil.web.times import point_of_time
from tests.grafana_boards import panels, queries, substituted, variables
from tests.house.tables import READMES

BOARDS = {name: json.loads(text) for name, text in make.written().items()}
GRAFANAS_OWN = {"__rate_interval": "1m", "__interval": "1m", "__range": "1h"}


NOT_SHOWN = {
    "ragvigil_audit_undecided": "a ticket names each, and what it lacked",
    "ragvigil_base64_ids_total": "a sender's habit, without consequence",
    "ragvigil_drift_visible_drop": "the route's page says it beside each rubric",
    "ragvigil_erased_spans_total": "an erasure's own result says what it removed",
    "ragvigil_golden_failing_again": "a ticket names the service, and the list of cases marks each",
    "ragvigil_golden_flaky": "the list of cases marks each",
    "ragvigil_incident_layer": "the incident's page says what each share rests on",
    "ragvigil_inference_cache_hits_total": "of whom tunes the model process",
    "ragvigil_inference_shed_total": "the share of records beside it says as much",
    "ragvigil_inference_starts_total": "its ends are shown, by reason",
    "ragvigil_inference_texts_total": "of whom tunes the model process",
    "ragvigil_judge_repeated_total": "after a crash, without consequence",
    "ragvigil_leads": "of a fleet alone: 1 on the analyst that leads, and the status says who",
    "ragvigil_llm_budget_waits_total": "the thinning of the rates says as much",
    "ragvigil_llm_cache_errors_total": "a question is asked again instead",
    "ragvigil_llm_forms_refused_total": "another form is asked for instead",
    "ragvigil_local_entailment_rate": "status has it; its scores carry the chance of being read",
    "ragvigil_own_results_ignored_total": "the guard against loops, without consequence",
    "ragvigil_pattern_answers_total": "its rubric's share of failing answers is shown, as of any",
    "ragvigil_replayed_traces_total": "after a restart, without consequence",
    "ragvigil_requests_total": "items and bytes are shown",
    "ragvigil_score_sum_total": "for means of one's own; means are shown",
    "ragvigil_scoring_processes": "records without local models beside it say that much waits",
    "ragvigil_scrapes_refused_total": "a Prometheus that is refused shows nothing of it",
    "ragvigil_span_feedback_total": "operating points are findings",
    "ragvigil_store_erased_rows_total": "an erasure's own result says what it removed",
    "ragvigil_topic_questions_total": "those that wait are shown",
    "ragvigil_web_foreign_total": "who is refused is told which setting names it",
    "ragvigil_web_identity_refused_total": "the page of health shows them, by reason",
}
"""Metrics that no dashboard shows, and why."""


def declared() -> set[str]:
    """Every metric that the daemon can expose, histograms by the names of their series."""
    modules = {module for _, several in READMES.values() for module in several}
    processes = {"process_resident_memory_bytes", "process_cpu_seconds_total"}
    names = processes | {f"ragvigil_core_{name}" for name in processes}
    for metric in metrics_of(sorted(modules | {"alerts.watch.families"})):
        names.add(f"{metric.name}_bucket" if metric.kind == "histogram" else metric.name)
    return names


def every(of: str) -> list[Any]:
    found = {
        "panel": [(name, panel) for name, board in BOARDS.items() for panel in panels(board)],
        "query": [(name, asked) for name, board in BOARDS.items() for asked in queries(board)],
    }
    return found[of]


@pytest.mark.parametrize("name", BOARDS)
def test_the_committed_file_is_what_the_code_makes(name: str) -> None:
    committed = (make.FOLDER / name).read_text(encoding="utf-8")
    assert committed == make.written()[name], "python -m deploy.grafana.make --write"


def test_no_other_dashboard_lies_beside_them() -> None:
    assert {path.name for path in make.FOLDER.iterdir()} == set(BOARDS)


def test_ids_are_unique_and_links_lead_to_one_of_them() -> None:
    ids = [board["uid"] for board in BOARDS.values()]
    assert len(set(ids)) == len(ids)
    linked = set(re.findall(r'"/d/([\w-]+)', json.dumps(BOARDS)))
    assert linked
    assert linked <= set(ids)


def test_links_to_a_route_open_its_page_whatever_its_name_at_the_time_that_is_shown() -> None:
    links = [
        link["url"]
        for board in BOARDS.values()
        for panel in panels(board)
        for link in panel.get("fieldConfig", {}).get("defaults", {}).get("links", ())
        if "/routes?" in link["url"]
    ]
    of_board = [link.get("url", "") for link in BOARDS["route.json"]["links"]]
    links += [url for url in of_board if "/routes?" in url]
    assert len(links) > 3
    for link in links:
        address = re.sub(r"\$\{[\w.]*?(\w+):percentencode\}", r"\1%26%2F%20", link)
        address = substituted(
            address, {"ragvigil": "http://r", "__from": "1772366400000", "__to": "1772370000000"}
        )
        split = urlsplit(address)
        assert (split.netloc, split.path) == ("r", "/routes")
        query = dict(parse_qsl(split.query))
        assert query["route"] == "route&/ "
        assert set(query) == {"service", "environment", "route", "since", "until"}
        assert point_of_time(query["since"], datetime.now(UTC)).year == 2026


@pytest.mark.parametrize(
    ("name", "panel"), every("panel"), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_panel_says_what_it_shows_and_what_to_do(name: str, panel: dict[str, Any]) -> None:
    shows, _, todo = panel["description"].partition("**What to do:** ")
    assert len(shows) > 20, name
    assert len(todo) > 10, name
    defaults = panel["fieldConfig"]["defaults"]
    assert defaults["unit"]
    assert defaults["thresholds"]["steps"]
    assert defaults["noValue"] == "no data"


@pytest.mark.parametrize(
    ("name", "panel"), every("panel"), ids=lambda value: value if isinstance(value, str) else ""
)
def test_no_panel_leaves_the_grid_or_lies_on_another(name: str, panel: dict[str, Any]) -> None:
    place = panel["gridPos"]
    assert place["x"] + place["w"] <= 24
    cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
    for other in panels(BOARDS[name]):
        at = other["gridPos"]
        if other["id"] != panel["id"]:
            corners = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
            assert not cells & corners, other["title"]


def test_every_metric_that_is_asked_for_exists() -> None:
    known = declared()
    for name, asked in every("query"):
        named = set(re.findall(r"\b(?:ragvigil|process)_\w+", asked.expr))
        assert named <= known, f"{name}, {asked.panel}"


def test_every_metric_is_shown_or_left_out_for_a_reason() -> None:
    text = " ".join(asked.expr for _, asked in every("query"))
    shown = set(re.findall(r"\bragvigil_\w+", text))
    ours = {name for name in declared() if name.startswith("ragvigil_")}
    assert ours - shown == set(NOT_SHOWN)


def test_every_variable_that_is_used_is_offered() -> None:
    for name, board in BOARDS.items():
        offered = {variable["name"]: "" for variable in variables(board)} | GRAFANAS_OWN
        for asked in queries(board):
            substituted(asked.expr, offered)
        assert offered, name


def test_no_query_makes_up_a_number_where_there_is_none() -> None:
    for name, asked in every("query"):
        assert not re.search(r"or\s+vector\(|absent\(", asked.expr), f"{name}, {asked.panel}"


def test_there_is_a_row_for_each_layer() -> None:
    assert set(LAYERS) == {layer.value for layer in Layer}
    rows = [panel["title"] for panel in BOARDS["overview.json"]["panels"] if panel["type"] == "row"]
    assert set(LAYERS.values()) <= set(rows)


def test_no_mean_is_taken_over_rubrics_or_layers() -> None:
    for name, asked in every("query"):
        if re.search(r"ragvigil_score_(mean|baseline|delta|sum|failed|coverage)", asked.expr):
            assert "avg" not in asked.expr, f"{name}, {asked.panel}"
            for labels in re.findall(r"(?:sum|min|max) by \(([^)]*)\)", asked.expr):
                assert "rubric" in labels, f"{name}, {asked.panel}"
            assert not re.search(r"\b(sum|min|max) ?\((?! *by)", asked.expr), asked.panel
