"""`file.search`: finds names and lines, stops at its limit, stays in its root, and ends when its call ends."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hawse.api.files import FileSearch, SearchMatch
from hawse_runtime.files.rooted_path import RootedPath
from hawse_runtime.files.search import search
from hawse_runtime.rpc.generator_stream import StreamEvent
from tests.support.runtime import Client, Served, eventually, no_fd_leaked

NAMES = ("a.py", "src/b.py", "src/deep/c.py", "src/deep/d.txt", ".hidden/e.py", "node_modules/f.py")
NOT_UTF_8 = "\0ff.py"  # the byte 0xff, escaped as in each path on the wire


def search_all(path: Path, **params: Any) -> tuple[list[SearchMatch], Any]:
    """Run a search to its end; return its matches and its result."""
    work = search(RootedPath(str(path)), FileSearch(path="x", **params))
    matches: list[SearchMatch] = []
    while True:
        try:
            item = next(work)
        except StopIteration as end:
            return matches, end.value
        if isinstance(item, StreamEvent) and item.name == "matches":
            matches += item.value.matches


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in NAMES:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"first\nthe needle of {name}, the needle\r\nNeedle\n")
    (tmp_path / "binary").write_bytes(b"needle\0needle\n")
    (tmp_path / "link").symlink_to("a.py")
    (tmp_path / os.fsdecode(b"\xff.py")).write_text("needle")
    os.mkfifo(tmp_path / "fifo")
    return tmp_path


def second_lines(*names: str) -> set[tuple[str, int | None]]:
    return {(name, 2) for name in names}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["C.PY"], {"src/deep/c.py"}),
        (["deep", "src"], {"src/deep", "src/deep/c.py", "src/deep/d.txt"}),
        (["deep", ".py"], {"src/deep/c.py"}),
        (["deep", "nowhere"], set()),
    ],
)
def test_words_select_paths_that_contain_all_of_them_in_any_order_and_case(
    tree: Path, words: list[str], expected: set[str]
) -> None:
    matches, result = search_all(tree, words=words)
    assert {match.path for match in matches} == expected
    assert result.matches == len(expected)
    assert {match.path for match in search_all(tree, words=words, pattern="needle")[0]} == expected - {"src/deep"}


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"pattern": "needle"}, {*second_lines(*NAMES), (NOT_UTF_8, 1)}),
        (
            {"pattern": "NEEDLE", "ignore_case": True},
            {(name, line) for name in NAMES for line in (2, 3)} | {(NOT_UTF_8, 1)},
        ),
        ({"pattern": "^the (needle|x)"}, second_lines(*NAMES)),
        ({"pattern": "needle$"}, {(NOT_UTF_8, 1)}),  # a carriage return is a character of the line
        ({"pattern": "of src/deep/c.py, the", "literal": True}, second_lines("src/deep/c.py")),
        (
            {"pattern": "needle", "include": ["*.py"], "exclude": ["node_modules"]},
            {*second_lines("a.py", "src/b.py", "src/deep/c.py", ".hidden/e.py"), (NOT_UTF_8, 1)},
        ),
        (
            {"pattern": "needle", "include": ["src/**/*.py", "*.txt"], "hidden": False},
            second_lines("src/b.py", "src/deep/c.py", "src/deep/d.txt"),
        ),
        (
            {"pattern": "needle", "exclude": ["src/deep", "/a.py"]},
            {*second_lines("src/b.py", ".hidden/e.py", "node_modules/f.py"), (NOT_UTF_8, 1)},
        ),
        ({"pattern": "nothing like it"}, set()),
    ],
)
def test_lines_are_found_in_the_files_that_the_globs_select(
    tree: Path, params: dict[str, Any], expected: set[tuple[str, int]]
) -> None:
    with no_fd_leaked():
        matches, result = search_all(tree, **params)
    assert {(match.path, match.line) for match in matches} == expected
    assert (len(matches), result.matches, result.truncated) == (len(expected), len(expected), False)


def test_a_match_has_its_line_without_the_line_end_and_the_spans_of_the_pattern(tree: Path) -> None:
    (match,) = search_all(tree, pattern="needle", include=["/a.py"])[0]
    assert match == SearchMatch(
        path="a.py", line=2, text="the needle of a.py, the needle", spans=[(4, 10), (24, 30)], truncated=False
    )


def test_a_search_ends_at_its_limit_and_reports_that_it_was_truncated(tree: Path) -> None:
    with no_fd_leaked():
        matches, result = search_all(tree, pattern="needle", limit=2)
    assert (len(matches), result.matches, result.truncated) == (2, 2, True)


async def test_files_are_found_by_name(client: Client, served: Served) -> None:
    (served.workspace / "d").mkdir()
    for name in ("a.py", "d/b.py", "d/c.txt"):
        (served.workspace / name).write_text("")
    call = client.call("file.search", {"path": ".", "include": ["*.py"]})
    result = await call.result()
    paths = {match["path"] for event in call.events for match in event.value["matches"]}
    assert paths == {"a.py", "d/b.py"}
    assert result == {"matches": 2, "truncated": False, "failed": 0}


async def test_an_invalid_pattern_or_path_is_a_typed_error(client: Client, served: Served) -> None:
    os.mkfifo(served.workspace / "fifo")
    for params, code in (
        ({"path": ".", "pattern": "("}, "invalid_params"),
        ({"path": ".", "pattern": "a\0b"}, "invalid_params"),
        ({"path": ".", "pattern": "x{1000}{1000}"}, "invalid_params"),
        ({"path": "none", "pattern": "x"}, "not_found"),
        ({"path": "fifo", "pattern": "x"}, "invalid_params"),
        ({"path": "fifo", "pattern": "x", "root": "."}, "invalid_params"),
        ({"path": ".", "pattern": "(?:x{30}){30}y{500}"}, "too_large"),
    ):
        assert (await client.refused("file.search", params)).code == code, params


async def test_a_search_under_a_root_finds_nothing_outside_of_it(client: Client, served: Served) -> None:
    (served.workspace / "secret").write_text("needle\n")
    (served.workspace / "jail").mkdir()
    (served.workspace / "jail/in").write_text("needle\n")
    (served.workspace / "jail/out").symlink_to("../secret")
    call = client.call("file.search", {"path": ".", "pattern": "needle", "root": "jail"})
    await call.result()
    assert [match["path"] for event in call.events for match in event.value["matches"]] == ["in"]


async def test_cancel_and_a_lost_connection_end_the_search(served: Served) -> None:
    for number in range(300):
        (served.workspace / str(number)).write_text("needle\n" * 3000)
    fds = served.runtime.info()["open_fds"]
    params = {"path": ".", "pattern": "needle", "limit": 100_000}
    async with served.client(window=1000) as client:
        cancelled = client.call("file.search", params, generous=False)
        cut = client.call("file.search", params, generous=False)
        await cancelled.until(lambda: cancelled.events)
        await cut.until(lambda: cut.events)
        held = open_below(served.workspace)
        assert held >= 2
        cancelled.cancel()
        await cancelled.refusal()
        # Polls: threads close the files, without an event.
        await eventually(lambda: 0 < open_below(served.workspace) < held)
    await eventually(lambda: open_below(served.workspace) == 0)
    await eventually(lambda: served.runtime.info()["open_fds"] <= fds)


def open_below(folder: Path) -> int:
    """The number of descriptors of this process that are open on files in `folder`."""
    count = 0
    for name in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # closed by another thread since it was listed
            count += os.path.dirname(os.readlink(f"/proc/self/fd/{name}")) == str(folder)
    return count
