"""Unix sockets at long paths can be bound and connected to."""

import os
import socket
from pathlib import Path

import pytest

from hawse.sockets import LONGEST, socket_address


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
