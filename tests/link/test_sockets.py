"""Unix sockets at long paths can be bound and connected to, and those that accept connections are recognized."""

import asyncio
import os
import socket
from pathlib import Path

import pytest

from hawse.link.sockets import LONGEST, accepts_connections, socket_address


def test_a_path_that_is_short_enough_is_its_own_address() -> None:
    path = Path("/" + "x" * (LONGEST - 1))
    with socket_address(path) as address:
        assert address == str(path)


@pytest.mark.parametrize("size", [LONGEST + 1, 2000])
def test_a_socket_can_be_at_a_longer_path(tmp_path: Path, size: int) -> None:
    folder = tmp_path
    while len(os.fsencode(folder / "socket")) < size:
        folder = folder / ("d" * 50)
    folder.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as client:
        with socket_address(folder / "socket") as address:
            held = Path(address).parent
            listener.bind(address)
        assert (folder / "socket").is_socket()
        assert held.parent == Path("/proc/self/fd")
        listener.listen()
        with socket_address(folder / "socket") as address:
            client.connect(address)


def test_a_missing_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), socket_address(tmp_path / ("x" * 100) / "socket"):
        pass


async def test_a_probe_finds_the_listening_process(tmp_path: Path) -> None:
    path = tmp_path / "s"
    assert not accepts_connections(path)
    async with await asyncio.start_unix_server(lambda reader, writer: writer.close(), path):
        assert accepts_connections(path)
    path.touch()
    assert not accepts_connections(path)


def test_a_stale_socket_is_distinguished_from_one_with_a_full_backlog(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(0)
        waiting: list[socket.socket] = []
        while accepts_connections(path) and len(waiting) < 3:
            waiting.append(socket.socket(socket.AF_UNIX))
            waiting[-1].setblocking(False)
            waiting[-1].connect_ex(str(path))
        assert accepts_connections(path)
        for one in waiting:
            one.close()
    assert not accepts_connections(path)


async def test_a_symbolic_link_to_a_socket_is_refused(tmp_path: Path) -> None:
    """User code can put one where its runtime's socket was."""
    async with await asyncio.start_unix_server(lambda reader, writer: writer.close(), tmp_path / "s"):
        (tmp_path / "link").symlink_to(tmp_path / "s")
        assert not accepts_connections(tmp_path / "link")


def test_a_path_that_is_too_long_has_no_listener(tmp_path: Path) -> None:
    assert not accepts_connections(tmp_path / ("x" * 200))
