"""Issues on the dashboards: what fails alike, and whether grouping it keeps up."""

from __future__ import annotations

from deploy.grafana.board import SCOPE
from deploy.grafana.chart import Chart, Limits, Query, Section, Shape, Unit
from deploy.grafana.instances import NONE_YET, ON, hourly, lines, quantile

OPEN = f"ragvigil_issue_open{{{SCOPE}}} == 1"


def issues() -> Section:
    """The row of the overview."""
    return Section(title="Issues: failing records by cause", charts=(_states(), _joined(), _open()))


def issues_of(route: str) -> Section:
    """The row of one route; `route` is its selector."""
    return Section(title="Issues", charts=(_members(route),))


def _states() -> Chart:
    """Of several replicas each tells the same issues."""
    return Chart(
        title="Issues by state",
        says="Named causes of failing records. New ones are so for a week; acknowledged, ignored "
        "and resolved ones are what somebody said.",
        todo="Regressed and escalating first, then new: the table below has those that are worth "
        "a ticket, `ragvigil issues list` all of them.",
        shape=Shape.BARS,
        unit=Unit.STATE,
        queries=(
            Query(
                expr="sum by (state) (max by (service, environment, state) "
                f"(ragvigil_issues{{{SCOPE}}}))",
                name="{{state}}",
            ),
            Query(expr="sum(max by (job) (ragvigil_issues_hidden))", name="too many to list"),
        ),
        lowest=0,
    )


def _joined() -> Chart:
    members = f"sum by (family) (increase(ragvigil_issue_members_total{{{SCOPE}}}[1h]))"
    return Chart(
        title="Records that joined an issue, last hour",
        says="Failing records of which the cause has a name, by the layer in which they fail "
        "first." + NONE_YET,
        todo="A step: `ragvigil issues list` has a bar a day of each issue.",
        shape=Shape.STACK,
        unit=Unit.PLAIN,
        queries=(Query(expr=members, name="{{family}}"),),
        lowest=0,
    )


def _open() -> Chart:
    labels = "issue, service, environment, state"
    words = "issue, name, seen, since, routes, layer, link"
    joined = (
        f"max by ({labels}) ({OPEN}) * on (issue) "
        "group_right (service, environment, state) "
        f"max by ({words}) (ragvigil_issue_message)"
    )
    return Chart(
        title="Issues that are worth a ticket",
        says="Regressed, escalating, and new and not tiny: how many records, since when, on which "
        "routes, in which layer. Empty: there is none, or nothing is grouped.",
        todo="`ragvigil issues show ID` tells why and has examples; then "
        "`ragvigil issues ack|resolve|ignore|merge ID`.",
        shape=Shape.TABLE,
        unit=Unit.STATE,
        queries=(Query(expr=joined, name="open"),),
        hidden_columns=("open",),
        width=24,
    )


def _members(route: str) -> Chart:
    joined = f"sum by (family) (increase(ragvigil_issue_members_total{{{route}}}[1h]))"
    return Chart(
        title="Records of this route that joined an issue, last hour",
        says="By the layer in which they fail first." + NONE_YET,
        todo="`ragvigil issues list --route ROUTE` names the causes.",
        shape=Shape.STACK,
        unit=Unit.PLAIN,
        queries=(Query(expr=joined, name="{{family}}"),),
        lowest=0,
        width=24,
    )


GROUPING = Section(
    title="Failing records: are they grouped?",
    charts=(
        lines(
            "What became of failing records, last hour",
            "They joined an issue by their vectors or by rubric and label, were clustered, are in "
            "none (loose), stayed where they were (same), or fail no more (gone)." + NONE_YET,
            "Only loose ones: too few alike, or nothing above the background.",
            Query(
                expr=hourly("ragvigil_clustering_failures_total", "placed"),
                name="{{placed}}",
            ),
        ),
        lines(
            "Failing records in no issue",
            "Of the last days, by the layer in which they fail first.",
            "Grows while none is grouped: look at the waiting ones beside, and at the log.",
            Query(
                expr=f"max by (family) (ragvigil_clustering_ungrouped{{{ON}}})",
                name="{{family}}",
            ),
        ),
        lines(
            "Waiting to be grouped",
            "Minutes with changed scores to be looked at; failing records, and questions of the "
            "topics, without vectors.",
            "Grows: the model process does not answer; `ragvigil status` says why.",
            Query(expr=f"max(ragvigil_clustering_pending_minutes{{{ON}}})", name="minutes"),
            Query(expr=f"max(ragvigil_clustering_waiting{{{ON}}})", name="records without vectors"),
            Query(
                expr=f"max(ragvigil_topic_questions_waiting{{{ON}}})",
                name="questions without vectors",
            ),
        ),
        lines(
            "Runs of the clustering process that failed, last hour",
            "By reason; issues stay as they are, and records by their keys." + NONE_YET,
            "memory or time: raise [clustering] child_bytes or child_seconds.",
            Query(
                expr=hourly("ragvigil_clustering_child_failures_total", "reason"),
                name="issues: {{reason}}",
            ),
            Query(
                expr=hourly("ragvigil_topic_map_failures_total", "reason"),
                name="topics: {{reason}}",
            ),
            limits=Limits(orange=1),
        ),
        lines(
            "Time of a step",
            "95 % of the turns are faster." + NONE_YET,
            "Placing takes longer than a minute: fewer [clustering] records a turn.",
            Query(expr=quantile(0.95, "ragvigil_clustering_seconds", "step"), name="{{step}}"),
            unit=Unit.SECONDS,
        ),
        lines(
            "Topics",
            "Topics of the newest map of each service, and the large ones among them that no "
            "golden case asks about.",
            "`ragvigil topics` names them; `ragvigil golden propose` fills a gap.",
            Query(
                expr=f"max by (service, environment) (ragvigil_topics{{{ON}}})",
                name="{{service}} {{environment}}",
            ),
            Query(
                expr=f"max by (service, environment) (ragvigil_topic_gaps{{{ON}}})",
                name="gaps of {{service}} {{environment}}",
            ),
        ),
    ),
)
"""The row of the daemon."""
