"""The modules with routes, in the order in which a path is compared with them."""

from __future__ import annotations

from ragvigil.web.api import (
    alerts,
    answers,
    audits,
    background,
    backups,
    deltas,
    erasures,
    golden,
    health,
    ids,
    incidents,
    issues,
    judges,
    label_queues,
    labels,
    notices,
    now,
    operating,
    people,
    posted,
    records,
    rubrics,
    search,
    series,
    service,
    topics,
    traffic,
)
from ragvigil.web.api.reports import digest, evaluations, proxies, releases, slices
from ragvigil.web.api.reports import sessions as session_reports
from ragvigil.web.pages import (
    addresses,
    case,
    case_acts,
    docs,
    issue_guard,
    label,
    label_answer,
    route,
    routes,
    runbook,
    sign_in,
)
from ragvigil.web.pages import answer as answer_page
from ragvigil.web.pages import answers as answers_page
from ragvigil.web.pages import golden as golden_page
from ragvigil.web.pages import health as health_page
from ragvigil.web.pages import incident as incident_page
from ragvigil.web.pages import issue as issue_page
from ragvigil.web.pages import issues as issues_page
from ragvigil.web.pages import now as now_page
from ragvigil.web.pages import topics as topics_page
from ragvigil.web.pages import trace as trace_page
from ragvigil.web.pages.reports import evaluations as evaluations_page
from ragvigil.web.pages.reports import releases as releases_page
from ragvigil.web.pages.reports import slices as slices_page
from ragvigil.web.pages.reports import users as users_page
from ragvigil.web.pages.reports import week as week_page

PARTS = (
    records,
    answers,
    search,
    ids,
    deltas,
    series,
    traffic,
    service,
    health,
    posted,
    people,
    backups,
    erasures,
    labels,
    label_queues,
    judges,
    alerts,
    notices,
    operating,
    incidents,
    now,
    rubrics,
    background,
    issues,
    golden,
    audits,
    topics,
    proxies,
    slices,
    releases,
    session_reports,
    digest,
    evaluations,
    addresses,
    docs,
    runbook,
    sign_in,
    now_page,
    incident_page,
    issues_page,
    issue_guard,  # before the verbs of `issue_page`, whose path would take its own
    issue_page,
    label,
    label_answer,
    golden_page,
    case,
    case_acts,
    health_page,
    route,
    routes,
    answers_page,
    topics_page,
    releases_page,
    evaluations_page,
    slices_page,
    users_page,
    week_page,
    answer_page,
    trace_page,
)
