"""What a user gets: sdist and wheel, built, and used in clean environments outside the checkout.

    .venv/bin/python bench/package.py [--small]

Builds both (the wheel from the sdist), installs the wheel with pip, plain and with all extras, and
uses it: the demo tells its story; beside it `doctor`, `why`, `status` and `mcp` answer. Packages
come from the package index. Small builds, and uses the wheel with links to the core's packages in
this environment; no size is measured then.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.rig.options import parse_small
from bench.rig.report import finish, progress
from ragvigil.app.cli.deploy_files import BUNDLES
from ragvigil.app.process.tied import run_tied, start_tied
from tests.installations import install

ROOT = Path(__file__).resolve().parents[1]
CONSTRAINTS = ROOT / "constraints.txt"
CORE_MB, HELP_SECONDS = 250, 0.5
INSTALL_SECONDS, COMMAND_SECONDS, DEMO_SECONDS = 1800.0, 300.0, 900.0
HELP_RUNS = 7
OF_PIP = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
"""What a new environment holds already; not ragvigil's."""
SUBJECTS = tuple(BUNDLES)
ELSEWHERE = {"RAGVIGIL_STORE__URL": "http://127.0.0.1:9/ragvigil"}
"""A server that no command here asks: the core has no store of its own."""
RECORD = (
    '{"question": "How long?", "answer": "14 days.", "chunks": [{"id": "a", "text": "14 days."}]}'
)
STORY = "citation_validity on /refunds/ask fell by"
ASK_MCP = """
import os, sys, anyio
from mcp import Client, StdioServerParameters
async def ask():
    server = StdioServerParameters(command=sys.argv[1], args=["mcp"], env=dict(os.environ))
    async with Client(server) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        print(*names, (await client.call_tool("why", {})).is_error)
anyio.run(ask)
"""


def built(folder: Path) -> Path:
    """Builds sdist and wheel; the wheel."""
    progress("building sdist and wheel")
    uv = Path(sys.executable).with_name("uv")
    done = run_tied([uv, "build", "--out-dir", folder, ROOT], seconds=INSTALL_SECONDS)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    (wheel,) = folder.glob("*.whl")
    return wheel


def content_bars(wheel: Path) -> dict[str, bool]:
    """What the wheel must hold, and must not."""
    with zipfile.ZipFile(wheel) as parts:
        names = set(parts.namelist())
    shipped = "ragvigil/shipped/"
    rules = {name for name in names if name.startswith("alerts/rules/") and name.endswith(".yml")}
    wanted = {"docs/runbook.md", "deploy/compose.yaml", "examples/helpdesk/service.py"}
    return {
        "the wheel holds rules, and not their tests": bool(rules)
        and not any("tests" in name for name in rules),
        "the wheel holds help desk, deployment files and runbook": {
            f"{shipped}{name}" for name in wanted
        }
        <= names,
        "the wheel holds recordings and articles": all(
            any(name.startswith(f"{shipped}examples/helpdesk/{folder}/") for name in names)
            for folder in ("recorded/healthy", "recorded/fabricated_quotes", "articles/current")
        ),
        "the wheel holds no secrets and no compiled files": not any(
            name.endswith((".env", ".pyc")) for name in names
        ),
    }


def installed(folder: Path, wheel: Path, extras: str) -> Path:
    """A new environment with the wheel, installed by pip; its folder."""
    progress(f"installing {wheel.name}{extras}")
    run([sys.executable, "-m", "venv", folder], folder.parent, seconds=INSTALL_SECONDS)
    command = [folder / "bin/python", "-m", "pip", "install", "--quiet", "-c", CONSTRAINTS]
    done = run([*command, f"{wheel}{extras}"], folder, seconds=INSTALL_SECONDS)
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    return folder


def linked(folder: Path, wheel: Path) -> Path:
    """An environment with the wheel's files and links to this environment's packages."""
    install(folder, code=folder / "wheel")
    with zipfile.ZipFile(wheel) as parts:
        parts.extractall(folder / "wheel")
    program = folder / "bin" / "ragvigil"
    program.write_text(f"#!{folder}/bin/python\nfrom ragvigil.app.cli.main import main\n\nmain()\n")
    program.chmod(0o755)
    return folder


def run(
    command: list[str | Path], folder: Path, *, seconds: float = COMMAND_SECONDS, **more: str
) -> subprocess.CompletedProcess[str]:
    """Runs a command in `folder` with a user's environment: no setting of ours, no PYTHONPATH."""
    return run_tied(
        command,
        seconds=seconds,
        cwd=folder if folder.is_dir() else folder.parent,
        env=clean() | more,
        stdin=subprocess.DEVNULL,
    )


def clean() -> dict[str, str]:
    """This environment without what is ours."""
    ours = ("RAGVIGIL_", "PYTHON", "VIRTUAL_ENV", "OTEL_")
    return {key: value for key, value in os.environ.items() if not key.startswith(ours)}


def size_mb(environment: Path) -> float:
    """MB on disk of what was installed: files and compiled files, without pip's own."""
    (site,) = environment.glob("lib/python*/site-packages")
    files = (path for path in site.rglob("*") if path.is_file())
    ours = (path for path in files if not path.relative_to(site).parts[0].startswith(OF_PIP))
    return round(sum(path.stat().st_blocks * 512 for path in ours) / 1e6, 1)


def help_seconds(environment: Path) -> float:
    """Seconds of `ragvigil --help`, the fastest of seven: others use the machine too."""
    times = []
    for _ in range(HELP_RUNS):
        started = time.perf_counter()
        subprocess.run(
            [environment / "bin/ragvigil", "--help"], env=clean(), capture_output=True, check=True
        )
        times.append(time.perf_counter() - started)
    return round(min(times), 3)


def core_bars(environment: Path) -> dict[str, bool]:
    """What works without any extra, and what says which extra it needs."""
    ragvigil = environment / "bin/ragvigil"
    refused = run([ragvigil, "run"], environment)
    checked = run([ragvigil, "check"], environment, **ELSEWHERE)
    (environment / "records.jsonl").write_text(RECORD + "\n")
    scored = run([ragvigil, "score", "records.jsonl"], environment, **ELSEWHERE)
    printed = [
        run([ragvigil, "deploy", "print", subject, "--to", subject], environment)
        for subject in SUBJECTS
    ]
    return {
        "run without an engine is one line that names ragvigil[embedded]": refused.returncode == 2
        and refused.stderr.count("\n") == 1
        and "ragvigil[embedded]" in refused.stderr,
        "check warns in a line that clustering needs ragvigil[local]": checked.returncode == 0
        and "clustering of issues needs ragvigil[local]" in checked.stdout,
        "score works": scored.returncode == 0 and "groundedness" in scored.stdout,
        "deploy print writes files for every subject": all(
            done.returncode == 0 and any((environment / subject).iterdir())
            for done, subject in zip(printed, SUBJECTS, strict=True)
        ),
    }


@contextmanager
def demo(environment: Path) -> Iterator[tuple[str, dict[str, str], subprocess.Popen[bytes]]]:
    """What `ragvigil demo` prints up to its end or to live traffic, and how to reach its daemon."""
    log = environment / "demo.log"
    with log.open("wb") as output:
        command = [environment / "bin/ragvigil", "demo"]
        process = start_tied(command, env=clean(), cwd=environment, stdout=output, stderr=output)
    try:
        deadline = time.monotonic() + DEMO_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            if "\nlive: " in (text := log.read_text(errors="replace")):
                break
            time.sleep(1)
        text = log.read_text(errors="replace")
        _, _, web = text.partition("API on http://")
        yield text, {"RAGVIGIL_WEB__ENDPOINT": web.split()[0] if web else ""}, process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(COMMAND_SECONDS)


def all_bars(environment: Path) -> dict[str, bool]:
    """What works with all extras."""
    ragvigil = environment / "bin/ragvigil"
    checked = run([ragvigil, "check"], environment)
    bars = {
        "check misses nothing": checked.returncode == 0 and "needs ragvigil[" not in checked.stdout
    }
    progress("running the demo")
    with demo(environment) as (story, reached, process):
        bars["the demo tells its story"] = STORY in story
        for command in ("doctor", "why", "status"):
            done = run([ragvigil, command], environment, **reached)
            bars[f"{command} works beside it"] = done.returncode == 0 and not done.stderr
        done = run([environment / "bin/python", "-c", ASK_MCP, ragvigil], environment, **reached)
        bars["mcp answers"] = done.stdout.startswith("why ") or " why " in done.stdout
        bars["mcp answers"] &= done.stdout.rstrip().endswith("False")
    bars["the demo ends at Ctrl-C"] = process.returncode == 0
    if not all(bars.values()):
        progress(f"{story}\n{done.stdout}{done.stderr}\n{checked.stdout}{checked.stderr}")
    return bars


def main() -> None:
    small = parse_small(__doc__)
    # Started in the background, this process ignores Ctrl-C, and so would the demo.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = Path(tempfile.mkdtemp(prefix="ragvigil-package-"))
    try:
        wheel = built(folder / "dist")
        figures: dict[str, object] = {"wheel_mb": round(wheel.stat().st_size / 1e6, 2)}
        bars = content_bars(wheel)
        core = linked(folder / "core", wheel) if small else installed(folder / "core", wheel, "")
        bars |= core_bars(core)
        if not small:
            megabytes, seconds = size_mb(core), help_seconds(core)
            everything = installed(folder / "all", wheel, "[all]")
            bars |= all_bars(everything)
            figures |= {"core_mb": megabytes, "all_mb": size_mb(everything)}
            figures["help_seconds"] = seconds
            bars[f"core <= {CORE_MB} MB"] = megabytes <= CORE_MB
            bars[f"--help <= {HELP_SECONDS} s"] = seconds <= HELP_SECONDS
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    finish("package", figures, bars, seed=0)


if __name__ == "__main__":
    main()
