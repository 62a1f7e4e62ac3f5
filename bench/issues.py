# The head of this file was lost at 17:25 when another benchmark was moved here by mistake (it is
# bench/issue_causes.py now): its author is asked to write it again.
def _hour(
    course: Course,
    known: Mapping[str, Sequence[Template]],
    three: Sequence[str],
    folder: Path,
    judge: str,
    past: tuple[Path, int, int],
) -> Compared:
    filled, ended, history = past
    with hour_of(filled, folder, judge, ended=ended / 1e9, factor=course.factor) as rig:
        answers = faulty_hour(known, three, starts=rig.clock.now_nanos(),
                              requests=course.requests, seed=course.seed)  # fmt: skip
        truths = rig.send(answers, seed=course.seed)
        rig.settle(history + len(answers), course.settle_minutes)
        issues = rig.issues()
    return compare(three, truths, failing(folder), issues)


def figures_of(found: Mapping[str, Compared]) -> tuple[dict[str, object], dict[str, bool]]:
    """What is printed, and which bars hold."""
    of_faults = [one for hour in found.values() for one in hour.faults if one.failing >= ENOUGH]
    grouped = sum(one.grouped for one in found.values())
    pure = sum(one.pure for one in found.values())
    background = sum(one.background for one in found.values())
    figures: dict[str, object] = {
        "hours": {name: asdict(one) for name, one in found.items()},
        "purity": round(pure / grouped, 3) if grouped else None,
        "background_failing": background,
        "background_in_issues": round(
            sum(one.background_grouped for one in found.values()) / max(1, background), 3
        ),
        "without_issue": [one.fault for one in of_faults if not one.issues],
    }
    bars = {
        f"every fault with >= {ENOUGH} failing records has an issue within an hour of traffic": (
            bool(of_faults) and all(one.issues for one in of_faults)
        ),
        f"purity >= {LEAST_PURE}": grouped > 0 and pure >= LEAST_PURE * grouped,
        f"issues a fault <= {MOST_ISSUES}": all(one.issues <= MOST_ISSUES for one in of_faults),
    }
    return figures, bars


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--combinations", type=int)
    options = parser.parse_args()
    given = {key: value for key, value in vars(options).items() if key != "small" and value}
    course = replace(SMALL if options.small else FULL, **given)
    figures, bars = figures_of(run(course, templates()))
    finish("issues", asdict(course) | figures, bars, seed=course.seed)


if __name__ == "__main__":
    main()
