"""Globs, and what a filter of them lets through."""

import fnmatch

import pytest
from hypothesis import given, strategies as st

from hawse.wire import HawseError
from hawse_runtime.core.globs import Filter, Glob


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "a.py", True),
        ("*.py", "src/deep/a.py", True),
        ("*.py", "a.pyc", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/*.py", "lib/src/a.py", False),
        ("/a", "a", True),
        ("/a", "b/a", False),
        ("src/**", "src", False),
        ("src/**", "src/a", True),
        ("src/**", "src/a/b/c", True),
        ("**/test", "test", True),
        ("**/test", "a/b/test", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**/b", "a/x/y/c", False),
        ("a/**/**/b", "a/b", True),
        ("**", "anything/at/all", True),
        ("build/", "x/build", True),
        ("?.txt", "é.txt", True),
        ("?.txt", "\udcff.txt", True),
        ("?.txt", "ab.txt", False),
        ("[a-c]*", "bee", True),
        ("[!a-c]*", "bee", False),
        ("[]]", "]", True),
        ("[!]]", "]", False),
        ("[^a]", "b", True),
        ("[", "[", True),
        ("[[a]", "[", True),
        (r"\*", "*", True),
        (r"\*", "x", False),
        ("a*b*c", "a-b-b-c", True),
        ("a*b*c", "a-b-c-d", False),
        ("*", "\n", True),
        (".*", ".git", True),
        (".*", "git", False),
        ("a.b", "axb", False),
    ],
)
def test_globs_match_paths(pattern: str, path: str, matches: bool) -> None:
    assert Glob(pattern).matches(path.split("/")) is matches


patterns = st.text(alphabet="ab*?.", min_size=1, max_size=8)


@given(patterns, st.text(alphabet="ab.", min_size=1, max_size=10))
def test_within_a_name_a_glob_is_what_the_shell_has(pattern: str, name: str) -> None:
    if "**" in pattern or not pattern.strip("."):
        return
    assert Glob(pattern).matches([name]) == fnmatch.fnmatchcase(name, pattern)


def model(pattern: list[str], path: list[str]) -> bool:
    if not pattern:
        return not path
    if pattern[0] == "**":
        least = 1 if len(pattern) == 1 else 0
        return any(model(pattern[1:], path[n:]) for n in range(least, len(path) + 1))
    return bool(path) and fnmatch.fnmatchcase(path[0], pattern[0]) and model(pattern[1:], path[1:])


@given(
    st.lists(st.sampled_from(["**", "a", "b", "*", "?b"]), min_size=2, max_size=6),
    st.lists(st.sampled_from(["a", "b", "ab", "c"]), min_size=1, max_size=6),
)
def test_a_path_is_matched_as_by_trying_everything(pattern: list[str], path: list[str]) -> None:
    joined = [name for at, name in enumerate(pattern) if name != "**" or pattern[at - 1 : at] != ["**"]]
    assert Glob("/" + "/".join(pattern)).matches(path) == model(joined, path)


def test_a_pattern_that_is_made_to_take_long_does_not() -> None:
    assert not Glob("a*" * 400 + "b").matches(["a" * 255])
    assert not Glob("/" + "**/a/" * 150 + "b").matches(["a"] * 1000)


@pytest.mark.parametrize("pattern", ["/", ".", "../x", "a/../b", "[b-a]"])
def test_a_pattern_that_can_match_nothing_is_refused(pattern: str) -> None:
    with pytest.raises(HawseError, match="invalid_params"):
        Glob(pattern)


def test_a_filter_selects_included_paths_that_are_not_at_or_below_an_excluded_one() -> None:
    filter = Filter(["*.py", "docs/**"], ["build", "docs/old/**"])
    wanted = ["a.py", "x/a.py", "docs/new/page", "docs/old"]
    unwanted = ["a.js", "build/a.py", "x/build/y/a.py", "docs/old/page", "docs"]
    assert [path for path in wanted + unwanted if filter.wants(path.split("/"))] == wanted
    assert filter.excludes(["x", "build"])
    assert not filter.excludes(["docs", "old"])


def test_a_filter_without_patterns_wants_everything() -> None:
    assert Filter([], []).wants(["x"])
