"""A sandbox is refused if there is no room for it, after what is stale was removed."""

from pathlib import Path

import pytest

from hawse.wire import HawseError
from hawse_gateway.sandboxes.admission import Admission, Capacity, Room, measure_room

MIB = 1 << 20
CAPACITY = Capacity(sandboxes=3, memory=100 * MIB, disk=200 * MIB)
PLENTY = Room(memory=1000 * MIB, disk=1000 * MIB)


def admission(state: Path, *rooms: Room) -> Admission:
    """Measures the rooms one after another; the last again and again."""
    left = list(rooms)
    return Admission(CAPACITY, state, measure=lambda path: left.pop(0) if len(left) > 1 else left[0])


async def refusal(checked: object) -> HawseError:
    with pytest.raises(HawseError) as caught:
        await checked  # type: ignore[misc]
    assert caught.value.code == "capacity_exceeded"
    assert caught.value.retryable
    assert caught.value.details["retry_after"] > 0
    return caught.value


async def test_a_sandbox_is_admitted_if_there_is_room(tmp_path: Path) -> None:
    await admission(tmp_path, PLENTY).check(2, memory=900 * MIB)


async def test_the_number_of_running_sandboxes_is_limited(tmp_path: Path) -> None:
    error = await refusal(admission(tmp_path, PLENTY).check(3))
    assert "3 sandboxes are running" in error.message


@pytest.mark.parametrize(
    ("room", "text"),
    [
        (Room(memory=99 * MIB, disk=1000 * MIB), "99 MiB of memory are available, and 100 MiB are needed"),
        (Room(memory=None, disk=1000 * MIB), "an unknown number of bytes of memory"),
        (Room(memory=1000 * MIB, disk=199 * MIB), ", and 200 MiB are needed"),
        (Room(memory=1000 * MIB, disk=None), "an unknown number of bytes are free"),
    ],
)
async def test_too_little_or_unknown_memory_or_disk_is_refused(tmp_path: Path, room: Room, text: str) -> None:
    assert text in (await refusal(admission(tmp_path, room).check(0))).message


async def test_the_limit_of_a_sandbox_counts_as_its_need(tmp_path: Path) -> None:
    error = await refusal(admission(tmp_path, PLENTY).check(0, memory=2000 * MIB))
    assert "2000 MiB are needed" in error.message


async def test_what_deletions_have_left_is_removed_before_a_sandbox_is_refused(tmp_path: Path) -> None:
    kept, stale = tmp_path / "sandboxes" / "mine" / "workspace", tmp_path / "sandboxes" / ".deleted-0123"
    kept.mkdir(parents=True)
    stale.mkdir()
    await admission(tmp_path, Room(memory=1000 * MIB, disk=0), PLENTY).check(0)
    assert kept.is_dir()
    assert not stale.exists()


def test_this_machine_is_measured(tmp_path: Path) -> None:
    room = measure_room(tmp_path)
    assert room.memory is not None
    assert room.memory > MIB
    assert room.disk is not None
    assert measure_room(tmp_path / "missing").disk is None


async def test_what_uses_other_machines_needs_no_room_here(tmp_path: Path) -> None:
    admission = Admission(Capacity(sandboxes=2), tmp_path, measure=lambda state: Room(0, 0))
    await admission.check(1, 1 << 40, remote=True)
    with pytest.raises(HawseError, match="2 sandboxes are running"):
        await admission.check(2, remote=True)
