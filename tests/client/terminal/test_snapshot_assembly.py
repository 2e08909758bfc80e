"""Assembling a snapshot from frames."""

import pytest

from hawse.client.base.results import Snapshot
from hawse.client.terminal.snapshot_assembly import SNAPSHOT_MAX, SnapshotAssembly
from hawse.wire import RemoteProtocolError


def test_it_is_shown_when_it_is_whole() -> None:
    assembly = SnapshotAssembly(100, 6, 80, 24)
    assembly.add(0, b"abc")
    assert assembly.finished() is None
    assembly.add(3, b"def")
    assert assembly.finished() == Snapshot(100, b"abcdef", 80, 24)


def test_an_empty_one_is_whole_at_once() -> None:
    assert SnapshotAssembly(0, 0, 80, 24).finished() == Snapshot(0, b"", 80, 24)


@pytest.mark.parametrize(("offset", "payload"), [(1, b"a"), (0, b"abcdefg")])
def test_bytes_out_of_place_are_the_servers_error(offset: int, payload: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        SnapshotAssembly(0, 6, 80, 24).add(offset, payload)


@pytest.mark.parametrize("size", [-1, SNAPSHOT_MAX + 1])
def test_a_size_without_sense_is_refused_before_anything_is_kept(size: int) -> None:
    with pytest.raises(RemoteProtocolError):
        SnapshotAssembly(0, size, 80, 24)
