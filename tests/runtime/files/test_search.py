"""`file.search`: the same matches by ripgrep and by our own walk, bounded, and stopped when nobody wants them."""

import os
from pathlib import Path
from typing import Any

import pytest

from hawse.api.files import FileSearch
from runtime.files.ripgrep import Ripgrep
from runtime.files.rooted_path import RootedPath
from runtime.files.search import search
from runtime.rpc.generator_stream import StreamEvent
from tests.support.runtime import Client, Served, children, eventually, no_fd_leaked


def found(path: Path, rg: Ripgrep | None, **params: Any) -> tuple[list[Any], Any]:
    work = search(RootedPath(str(path)), FileSearch(path="x", **params), rg)
    matches: list[Any] = []
    while True:
        try:
            item = next(work)
        except StopIteration as end:
            return matches, end.value
        if isinstance(item, StreamEvent) and item.name == "matches":
            matches += item.value.matches


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("a.py", "src/b.py", "src/deep/c.py", "src/deep/d.txt", ".hidden/e.py", "node_modules/f.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"first\nthe needle of {name}, the needle\r\nNeedle\n")
    (tmp_path / "binary").write_bytes(b"needle\0needle\n")
    (tmp_path / "link").symlink_to("a.py")
    (tmp_path / os.fsdecode(b"\xff.py")).write_text("needle")
    os.mkfifo(tmp_path / "fifo")
    return tmp_path


@pytest.mark.parametrize(
    "params",
    [
        {"pattern": "needle"},
        {"pattern": "NEEDLE", "ignore_case": True},
        {"pattern": "^the (needle|x)"},
        {"pattern": "needle$"},
        {"pattern": "of src/deep/c.py, the", "literal": True},
        {"pattern": "needle", "include": ["*.py"], "exclude": ["node_modules"]},
        {"pattern": "needle", "include": ["src/**/*.py", "*.txt"], "hidden": False},
        {"pattern": "needle", "exclude": ["src/deep", "/a.py"]},
        {"pattern": "nothing like it"},
    ],
)
def test_ripgrep_and_our_own_walk_find_the_same(tree: Path, params: dict[str, Any]) -> None:
    rg = Ripgrep.find(os.environ)
    assert rg is not None, "this test needs ripgrep"
    with no_fd_leaked():
        own, counts = found(tree, None, **params)
        theirs, _ = found(tree, rg, **params)
    key = lambda match: (match.path, match.line)  # noqa: E731
    assert sorted(own, key=key) == sorted(theirs, key=key)
    assert counts.matches == len(own)
    assert not counts.truncated
    assert (params["pattern"] == "nothing like it") == (not own)


@pytest.mark.parametrize("own", [True, False])
def test_it_ends_at_the_limit_and_says_so(tree: Path, own: bool) -> None:
    rg = None if own else Ripgrep.find(os.environ)
    before = children()
    with no_fd_leaked():
        matches, counts = found(tree, rg, pattern="needle", limit=2)
    assert (len(matches), counts.matches, counts.truncated) == (2, 2, True)
    assert children() == before


async def test_files_are_found_by_name(client: Client, served: Served) -> None:
    (served.workspace / "d").mkdir()
    for name in ("a.py", "d/b.py", "d/c.txt"):
        (served.workspace / name).write_text("")
    call = client.call("file.search", {"path": ".", "include": ["*.py"]})
    result = await call.result()
    paths = {match["path"] for event in call.events for match in event.value["matches"]}
    assert paths == {"a.py", "d/b.py"}
    assert result == {"matches": 2, "truncated": False, "failed": 0}


async def test_a_bad_pattern_or_place_is_a_typed_error(client: Client, served: Served) -> None:
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


async def test_within_a_root_nothing_outside_is_found(client: Client, served: Served) -> None:
    (served.workspace / "secret").write_text("needle\n")
    (served.workspace / "jail").mkdir()
    (served.workspace / "jail/in").write_text("needle\n")
    (served.workspace / "jail/out").symlink_to("../secret")
    call = client.call("file.search", {"path": ".", "pattern": "needle", "root": "jail"})
    await call.result()
    assert [match["path"] for event in call.events for match in event.value["matches"]] == ["in"]


async def test_cancel_and_a_cut_line_end_the_search(served: Served) -> None:
    for number in range(300):
        (served.workspace / str(number)).write_text("needle\n" * 3000)
    before, fds = children(), served.runtime.info()["open_fds"]
    params = {"path": ".", "pattern": "needle", "limit": 100_000}
    async with served.client(window=1000) as client:
        cancelled = client.call("file.search", params, generous=False)
        cut = client.call("file.search", params, generous=False)
        await cancelled.until(lambda: cancelled.events)
        await cut.until(lambda: cut.events)
        assert len(children() - before) == 2
        cancelled.cancel()
        await cancelled.refusal()
        await eventually(lambda: len(children() - before) == 1)
    await eventually(lambda: children() == before)
    await eventually(lambda: served.runtime.info()["open_fds"] <= fds)
