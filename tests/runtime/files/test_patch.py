"""A patch applies exactly or not at all. `diff` and random changes make patches; `difflib` is not trusted to."""

import random
import subprocess
from pathlib import Path

import pytest

from hawse.wire import HawseError
from hawse_runtime.files.patch import apply


def patch_of(old: bytes, new: bytes, tmp_path: Path, context: int) -> bytes:
    (tmp_path / "old").write_bytes(old)
    (tmp_path / "new").write_bytes(new)
    return subprocess.run(
        ["diff", f"-U{context}", "--text", "old", "new"], cwd=tmp_path, capture_output=True, check=False
    ).stdout


@pytest.mark.parametrize("seed", range(40))
def test_what_diff_prints_makes_the_new_file_of_the_old_one(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    words = [b"a", b"b\r", b"", b"-x", b"+y", b"@@ z", b"\\ q", b"\xff", b"-- old", b"++ new"]

    def text(lines: list[bytes]) -> bytes:
        return b"\n".join(lines) + dice.choice([b"\n", b""]) if lines else b""

    old = [dice.choice(words) for _ in range(dice.randrange(40))]
    new = [line for line in old if dice.random() > 0.1]
    for _ in range(dice.randrange(4)):
        new.insert(dice.randrange(len(new) + 1), dice.choice(words))
    before, after = text(old), text(new)
    patch = patch_of(before, after, tmp_path, dice.choice([0, 1, 3]))
    if patch:
        assert apply(before, patch)[0] == after


def test_a_hunk_applies_where_its_lines_have_moved_to_if_that_is_one_place() -> None:
    patch = b"@@ -2,2 +2,2 @@\n b\n-c\n+C\n"
    assert apply(b"new\nnew\na\nb\nc\n", patch) == (b"new\nnew\na\nb\nC\n", 1)
    assert apply(b"a\nb\nc\nb\nc\n", patch)[0] == b"a\nb\nC\nb\nc\n", "the stated line is not ambiguous"
    with pytest.raises(HawseError, match="conflict: the lines of hunk 1 are not at line") as caught:
        apply(b"b\nc\nx\nb\nc\n", patch)
    assert caught.value.details == {"hunk": 0, "found": 2}
    with pytest.raises(HawseError, match="conflict: the lines of hunk 1 are not in the file"):
        apply(b"a\nb\nd\n", patch)


def test_later_hunks_follow_the_shift_of_those_before() -> None:
    patch = b"--- a\n+++ b\n@@ -1,1 +1,1 @@\n-a\n+A\n@@ -3,1 +3,1 @@\n-x\n+X\n"
    assert apply(b"0\n0\na\nx\nx\n", patch) == (b"0\n0\nA\nx\nX\n", 2)


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        (b"nothing", "it has no hunk"),
        (b"@@ -1,2 +1,1 @@\n-a\n", "has 1 old and 0 new lines, but its header states 2 and 1"),
        (b"@@ -1 +1 @@\nxa\n", "does not start with"),
        (b"--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n--- c\n+++ d\n@@ -1 +1 @@\n-a\n+b\n", "changes several files"),
    ],
)
def test_what_is_not_a_patch_of_one_file_is_refused(patch: bytes, why: str) -> None:
    with pytest.raises(HawseError, match=why) as caught:
        apply(b"a\n", patch)
    assert caught.value.code == "invalid_params"


def test_an_empty_line_of_a_hunk_may_have_lost_its_space() -> None:
    assert apply(b"a\n\nb\n", b"@@ -1,3 +1,3 @@\n a\n\n-b\n+c") == (b"a\n\nc\n", 1)
