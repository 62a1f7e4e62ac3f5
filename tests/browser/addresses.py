"""The address of every page, with what there is to show on it."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from tests.browser.world import FAULTY_ROUTE, Served


def addresses(site: Served) -> Mapping[str, str]:
    """Path by name of the page; pages of things that the daemon has not are left out."""
    plain = (
        "issues", "answers", "topics", "golden", "label", "health", "search", "releases",
        "evaluations", "slices", "proxies", "digest", "addresses", "runbook",
    )  # fmt: skip
    found = {"now": "/"} | {name: f"/{name}" for name in plain}
    found["search"] = "/search?" + urlencode({"q": "refund PayPal"})
    found["sign-in"] = "/sign-in"
    found["route"] = "/routes?" + urlencode({"route": FAULTY_ROUTE, "service": "helpdesk"})
    found["routes"] = "/routes"
    found["no-route"] = "/routes/none"
    found["missing"] = "/issues/0000"
    for queue in site.get("label-queues")["queues"][:1]:
        found["label-answer"] = f"/label/{queue['name']}"
    for incident in site.get("incidents")["incidents"][:1]:
        found["incident"] = f"/incidents/{incident['incident_id']}"
    issues = site.get("issues")["issues"]
    for issue in sorted(issues, key=lambda issue: issue["rubric"] != "citation_validity")[:1]:
        found["issue"] = f"/issues/{issue['issue_id']}"
        found["members"] = f"/issues/{issue['issue_id']}/members"
    for record in site.get("records", limit=1)["records"]:
        found["answer"] = f"/answers/{record['record_id']}"
        found["trace"] = f"/traces/{record['trace_id']}"
    for record in site.get("records", rubric="citation_validity", below=0.9, limit=1)["records"]:
        found["failing-answer"] = f"/answers/{record['record_id']}"
    for run in site.get("evaluations")["evaluations"][:1]:
        found["evaluation"] = f"/evaluations/{run['run_id']}"
    for case in site.get("golden")["cases"][:1]:
        found["case"] = f"/golden/{case['case_id']}"
    return found
