"""Kills are recognized by the kernel's counters."""

from pathlib import Path

from hawse_runtime.posix.oom import OomCounter, find_counter


def count(file: Path, kills: int) -> None:
    file.write_text(f"low 0\nhigh 0\nmax 8\noom 7\noom_kill {kills}\noom_group_kill 0\n")


def test_a_kill_is_claimed_once(tmp_path: Path) -> None:
    count(tmp_path / "c", 5)
    counter = OomCounter(tmp_path / "c")
    before = counter.kills()
    assert before == 5
    assert counter.claim(before) is False
    count(tmp_path / "c", 7)
    assert counter.claim(before) is True
    assert counter.claim(before) is True
    assert counter.claim(before) is False, "there were two, and both have their victims"


def test_the_counter_may_be_a_descriptor_of_a_file_that_cannot_be_opened_here(tmp_path: Path) -> None:
    count(tmp_path / "c", 5)
    with (tmp_path / "c").open() as file:
        counter = OomCounter(file.fileno())
        (tmp_path / "c").rename(tmp_path / "moved")
        assert counter.kills() == 5
        count(tmp_path / "moved", 6)
        assert counter.claim(5) is True


def test_a_kill_before_something_began_was_not_its_own(tmp_path: Path) -> None:
    count(tmp_path / "c", 0)
    counter = OomCounter(tmp_path / "c")
    count(tmp_path / "c", 1)
    assert counter.claim(counter.kills()) is False


def test_without_a_counter_the_result_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("oom_kill_disable 0\nunder_oom 0\n")
    old_kernel = OomCounter(tmp_path / "c")
    assert old_kernel.kills() is None
    assert old_kernel.claim(old_kernel.kills()) is None
    assert OomCounter(tmp_path / "none").claim(0) is None
    assert find_counter(tmp_path, tmp_path / "none") is None


def test_the_counter_is_found_in_both_versions(tmp_path: Path) -> None:
    groups = tmp_path / "groups"
    unified = tmp_path / "a/b/memory.events"
    own, outer = tmp_path / "memory/x/memory.oom_control", tmp_path / "memory/memory.oom_control"
    for file in (unified, own, outer):
        file.parent.mkdir(parents=True, exist_ok=True)
        count(file, 0)
    groups.write_text("0::/a/b\n")
    assert find_counter(tmp_path, groups) == unified
    groups.write_text("4:memory:/x\n0::/\n")
    assert find_counter(tmp_path, groups) == own
    groups.write_text("4:cpu,memory:/the/hosts/path\n1:cpu:/\n")
    assert find_counter(tmp_path, groups) == outer
