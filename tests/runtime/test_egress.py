"""The socket that is handed out of the sandbox."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from hawse_runtime.egress import SOCKET_NAME, listen
from tests.support.stack import free_port


def receive(server: socket.socket) -> tuple[socket.socket, socket.socket]:
    connection, _ = server.accept()
    _, fds, _, _ = socket.recv_fds(connection, 1, 1)
    return connection, socket.socket(fileno=fds[0])


# Runs in a separate process, because the socket is lent until the process exits.
LENDER = """
import os, sys
from hawse_runtime.egress import SOCKET_NAME, in_directory, lend, listen
before = os.getcwd()
directory = os.open(sys.argv[2], os.O_PATH)
lend(listen(int(sys.argv[1])), SOCKET_NAME, lambda: in_directory(directory))
sys.stdin.read()
print(os.getcwd() == before)
"""


def test_each_proxy_in_turn_gets_the_socket(tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-c", LENDER, str(port), str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as lender:
        for _ in range(2):
            path = tmp_path / SOCKET_NAME
            path.unlink(missing_ok=True)
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(str(path))
                server.listen()
                server.settimeout(30)
                connection, lent = receive(server)
                with connection, lent, socket.create_connection(("127.0.0.1", port)) as program:
                    accepted, _ = lent.accept()
                    with accepted:
                        accepted.sendall(b"hello")
                        assert program.recv(5) == b"hello"
        unchanged, _ = lender.communicate(timeout=30)
    assert unchanged == "True\n", "only the thread that lends works in the directory"


def test_a_port_that_is_taken_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError):
        listen(int(taken.getsockname()[1]))
