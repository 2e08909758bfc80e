"""Parsing the output of git, also output that is cut off or unexpected. test_methods.py uses a real git."""

from itertools import pairwise

from hypothesis import given, strategies as st

from hawse.api.git import GitProgress
from hawse_runtime.git import porcelain
from hawse_runtime.git.porcelain import ProgressReader, branches, log, pushed, status

LINES = (
    b"Cloning into 'x'...\nremote: Counting objects:  50% (1/2)\rremote: Counting objects: 100% (2/2), done.\n"
    b"Receiving objects:  45% (9/20), 1.50 MiB | 2.00 MiB/s\rResolving deltas: 100% (3/3), done.\n"
)


def read_progress(*parts: bytes) -> list[GitProgress]:
    found: list[GitProgress] = []
    reader = ProgressReader(found.append)
    for part in parts:
        reader.feed(part)
    return found


def test_progress_is_parsed_from_lines_that_overwrite_each_other() -> None:
    assert read_progress(LINES) == [
        GitProgress(phase="Counting objects", percent=50, done=1, total=2),
        GitProgress(phase="Counting objects", percent=100, done=2, total=2),
        GitProgress(phase="Receiving objects", percent=45, done=9, total=20, received=3 << 19),
        GitProgress(phase="Resolving deltas", percent=100, done=3, total=3),
    ]


@given(st.lists(st.integers(0, len(LINES)), max_size=5).map(sorted))
def test_progress_is_the_same_however_the_output_is_split(cuts: list[int]) -> None:
    edges = [0, *cuts, len(LINES)]
    assert read_progress(*(LINES[a:b] for a, b in pairwise(edges))) == read_progress(LINES)


@given(st.binary(max_size=300))
def test_any_output_of_a_server_is_accepted(data: bytes) -> None:
    read_progress(b"remote: " + data + b"\n", b"Receiving objects: 1% (1/1), 1.1.1 MiB\n" + data)


def test_the_memory_for_a_line_without_an_end_is_bounded() -> None:
    reader = ProgressReader(lambda progress: None)
    for _ in range(100):
        reader.feed(b"x" * 10_000)
    assert reader.held == porcelain.LINE_LIMIT


STATUS = (
    b"# branch.oid 1234\0# branch.head main\0# branch.upstream origin/main\0# branch.ab +2 -3\0"
    b"1 .M N... 100644 100644 100644 a b with space\0"
    b"2 R. N... 100644 100644 100644 a b R100 new\nname\0old\xff\0"
    b"u UU N... 100644 100644 100644 100644 a b c both\0? -new\0! ignored\0"
)


def test_a_status_with_any_names_is_parsed() -> None:
    state = status(STATUS)
    assert (state.branch, state.commit, state.upstream, state.ahead, state.behind) == (
        "main",
        "1234",
        "origin/main",
        2,
        3,
    )
    assert [(e.path, e.index, e.worktree, e.origin) for e in state.entries] == [
        ("with space", ".", "M", None),
        ("new\nname", "R", ".", "old\0ff"),
        ("both", "U", "U", None),
        ("-new", "?", "?", None),
        ("ignored", "!", "!", None),
    ]
    assert not state.truncated


@given(st.integers(0, len(STATUS) - 1))
def test_a_status_that_was_cut_off_is_truncated(end: int) -> None:
    state = status(STATUS[:end])
    whole = status(STATUS)
    paths = [entry.path for entry in state.entries]
    assert paths == [entry.path for entry in whole.entries][: len(paths)]
    if STATUS[end - 1 : end] != b"\0":
        assert state.truncated or end == 0


def test_a_detached_head_and_no_commit_are_null() -> None:
    state = status(b"# branch.oid (initial)\0# branch.head (detached)\0")
    assert (state.commit, state.branch) == (None, None)


def test_a_status_that_does_not_fit_into_a_message_is_truncated() -> None:
    many = status(b"".join(b"? %d\0" % number for number in range(porcelain.ENTRIES + 1)))
    assert (len(many.entries), many.truncated) == (porcelain.ENTRIES, True)
    long = status(b"".join(b"? %d%s\0" % (number, b"x" * 4000) for number in range(200)))
    assert long.truncated
    assert sum(len(entry.path) for entry in long.entries) <= porcelain.TEXT_BYTES


def test_a_log_is_parsed_and_bounded() -> None:
    record = [b"c1", b"p1 p2", b"A", b"a@x", b"5", b"B", b"b@x", b"6", b"subject\n\nbody \xff\n"]
    (commit,), truncated = log(b"\0".join(record) + b"\0")
    assert (commit.parents, commit.time, commit.committed, commit.message) == (
        ["p1", "p2"],
        5,
        6,
        "subject\n\nbody \ufffd",
    )
    assert not truncated
    record[-1] = b"x" * 100_000
    commits, truncated = log((b"\0".join(record) + b"\0") * 50)
    assert truncated
    assert all(len(commit.message) == porcelain.MESSAGE_BYTES for commit in commits)
    assert log(b"") == ([], False)


def test_branches_are_parsed_without_symbolic_refs() -> None:
    data = (
        b"refs/heads/a/b\x00c1\x00origin/a\x00*\x00\nrefs/remotes/origin/HEAD\x00c1\x00\x00 \x00refs/remotes/origin/a\n"
    )
    data += b"refs/remotes/origin/a\x00c2\x00\x00 \x00\n"
    found, truncated = branches(data)
    assert [(b.name, b.commit, b.upstream, b.current, b.remote) for b in found] == [
        ("a/b", "c1", "origin/a", True, False),
        ("origin/a", "c2", None, False, True),
    ]
    assert not truncated
    assert branches(b"refs/heads/x\x00c\x00\x00 \x00\n" * 6000)[1]


def test_the_refs_of_a_push_are_parsed() -> None:
    output = b"To https://h/x\n*\trefs/heads/a:refs/heads/b\t[new branch]\n"
    output += b"!\tx:refs/heads/y\t[rejected] (fetch first)\nDone\n"
    assert [(ref.status, ref.ref, ref.summary) for ref in pushed(output)] == [
        ("*", "refs/heads/b", "[new branch]"),
        ("!", "refs/heads/y", "[rejected] (fetch first)"),
    ]
