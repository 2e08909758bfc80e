"""Check the documentation: links lead to files and headings that exist, and lines in docs/ are short enough to read."""

import os
import re
from functools import cache
from pathlib import Path

import pytest

from hawse.wire.channel import CLIENT_STEPS, TRANSITIONS, ChannelState
from tests.support.packages import PACKAGES, modules

ROOT = Path(__file__).resolve().parent.parent
DECISIONS = ROOT / "docs" / "decisions"
LINE_MAX = 200  # characters in a line of docs/: a diff of a longer one cannot be reviewed

SKIPPED = {"node_modules", ".venv", "_web", "build", "dist"}
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
FILE = re.compile(
    r"(?<![\w/.-])((?:runtime|gateway|hawse|tests|e2e|bench|examples|scripts|web/src|web/test)/[\w./-]+\.(?:py|ts|sh|md))"
)
STEP = re.compile(r"\*\*`([^`]+)`\*\*,\s+`(\w+)`")  # of docs/walk.md: a file and a function in it
METRIC = re.compile(r"hawse_\w+")
REFERENCE = re.compile(r"docs/decisions/(\d{4})(?:-[a-z0-9-]+)?|\bdecisions? (\d{4})\b")


@cache
def pages() -> list[Path]:
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in SKIPPED and not name.startswith(".")]
        found += [Path(folder, file) for file in files if file.endswith(".md")]
    return sorted(found)


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def links(page: Path) -> list[str]:
    """Return the targets of all links of a page, without those in code."""
    targets = [match[1] or match[2] for match in LINK.finditer(CODE.sub("", page.read_text("utf-8")))]
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def anchors(page: Path) -> set[str]:
    """Return the fragment identifiers that GitHub makes from a page's headings."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.S | re.M), re.M)
    kept = (re.sub(r"[^\w\- ]", "", heading.strip().lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in kept}


@pytest.mark.parametrize("page", pages(), ids=name)
def test_every_relative_link_leads_to_a_file_or_heading(page: Path) -> None:
    broken = []
    for link in links(page):
        path, _, fragment = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (fragment and fragment not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", [page for page in pages() if ROOT / "docs" in page.parents], ids=name)
def test_no_line_is_too_long(page: Path) -> None:
    text = page.read_text("utf-8")
    assert [line[:60] for line in text.splitlines() if len(line) > LINE_MAX] == []


def test_each_decision_that_code_or_a_page_refers_to_exists() -> None:
    numbers = {path.name[:4] for path in DECISIONS.glob("[0-9]*.md")}
    files = list(modules())
    missing = {
        f"{name(path)}: {match[0]}"
        for path in [*files, *pages()]
        for match in REFERENCE.finditer(path.read_text("utf-8"))
        if (match[1] or match[2]) not in numbers or ("-" in match[0] and not (ROOT / f"{match[0]}.md").exists())
    }
    assert missing == set()


def test_the_index_of_decisions_lists_each_page_once_under_its_title() -> None:
    rows = re.findall(r"^\| \[(\d{4})\]\(([^)]+)\) \| (.+) \|$", (DECISIONS / "README.md").read_text("utf-8"), re.M)
    titles = {path.name: path.read_text("utf-8").splitlines()[0] for path in DECISIONS.glob("[0-9]*.md")}
    assert {page: f"# {number}: {title}" for number, page, title in rows} == titles
    assert len(rows) == len(titles)


def channel_diagram() -> str:
    """Return `TRANSITIONS` of hawse/wire/channel.py as a Mermaid diagram; steps that change nothing are on a loop."""
    lines = ["```mermaid", "stateDiagram-v2", f"  [*] --> {ChannelState.IDLE.value}"]
    for state, steps in TRANSITIONS.items():
        arrows: dict[tuple[ChannelState, bool], list[str]] = {}
        for step, after in steps.items():
            arrows.setdefault((after, step in CLIENT_STEPS), []).append(step.value)
        # A label of Mermaid contains no colon.
        lines += [f"  {state.value} --> {after.value}: {', '.join(labels)}" for (after, _), labels in arrows.items()]
    return "\n".join([*lines, "```"])


def test_the_diagram_of_the_channel_states_is_the_table_in_the_code() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    shown = page.partition("<!-- channel states: begin -->\n")[2].partition("\n<!-- channel states: end -->")[0]
    assert shown == channel_diagram(), "paste this into ARCHITECTURE.md:\n" + channel_diagram()


def test_the_architecture_page_names_every_package() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    folders = [
        path
        for top in ("hawse_runtime", "hawse_gateway")
        for path in PACKAGES[top].iterdir()
        if (path / "__init__.py").exists()
    ]
    assert [name(path) for path in folders if f"`{name(path)}`" not in page] == []


@pytest.mark.parametrize("page", [page for page in pages() if DECISIONS not in page.parents], ids=name)
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    named = FILE.findall(page.read_text("utf-8"))
    assert [path for path in named if not (ROOT / path).exists() and not (page.parent / path).exists()] == []


def test_every_function_that_the_walk_names_is_in_its_file() -> None:
    steps = STEP.findall((ROOT / "docs" / "walk.md").read_text("utf-8"))
    assert len(steps) >= 10
    assert [step for step in steps if step[1] not in (ROOT / step[0]).read_text("utf-8")] == []


def test_every_metric_is_documented() -> None:
    sources = [path for name in ("*/feature.py", "metrics/*.py") for path in PACKAGES["hawse_gateway"].glob(name)]
    exported = {name for path in sources for name in METRIC.findall(path.read_text("utf-8"))}
    documented = set(METRIC.findall((ROOT / "docs" / "metrics.md").read_text("utf-8")))
    runtime = {metric for metric in exported if metric.startswith("hawse_runtime_")}  # documented as `hawse_runtime_*`
    assert documented - {"hawse_runtime_", "hawse_echo_seconds_bucket"} == exported - runtime
