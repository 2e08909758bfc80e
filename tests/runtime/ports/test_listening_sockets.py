"""Who listens where, read from /proc."""

import os
import shlex
import socket
import sys

import psutil

from hawse_runtime.ports.listening_sockets import ListeningSocket, SocketOwner, owners, reachable, sockets
from hawse_runtime.posix.process_table import ProcessReader
from tests.support import peers
from tests.support.ports import listening
from tests.support.runtime import Client, eventually
from tests.support.stack import free_port


def inode(listener: socket.socket) -> int:
    return os.fstat(listener.fileno()).st_ino


def test_every_socket_that_listens_is_found_as_the_system_knows_it() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as four,
        socket.create_server(("::1", 0), family=socket.AF_INET6) as six,
    ):
        found = sockets()
        assert ListeningSocket(four.getsockname()[1], "127.0.0.1", inode(four)) in found
        assert ListeningSocket(six.getsockname()[1], "::1", inode(six)) in found
        known = {c.laddr.port for c in psutil.net_connections("tcp") if c.status == psutil.CONN_LISTEN}
        assert {four.getsockname()[1], six.getsockname()[1]} <= known & {s.port for s in found}


def test_a_socket_that_is_connected_does_not_listen() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as other,
    ):
        assert other.getsockname()[1] not in {s.port for s in sockets()}


def test_sockets_of_this_process_do_not_belong_to_a_program() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert inode(listener) not in owners(ProcessReader().read(), "no such mark")


async def test_a_program_is_known_by_its_descent(client: Client) -> None:
    port = await listening(client, "quiet")
    (found,) = [s for s in sockets() if s.port == port]
    owner = owners(ProcessReader().read(), "no such mark")[found.inode]
    assert owner.name.startswith("python")
    assert psutil.pid_exists(owner.pid)


async def test_a_program_whose_parents_have_ended_is_found_by_its_mark(client: Client) -> None:
    mark = (await client.info())["runtime"]
    port = free_port()
    program = shlex.join([sys.executable, peers.__file__, "quiet", "--orphan", "--port", str(port)])
    await client.execute(f"{program} >/dev/null 2>&1").result()
    await eventually(lambda: [s for s in sockets() if s.port == port])  # the kernel reports new listeners by no event
    (found,) = [s for s in sockets() if s.port == port]
    daemon = psutil.Process(owners(ProcessReader().read(), mark)[found.inode].pid)
    assert psutil.Process() not in daemon.parents()
    assert found.inode not in owners(ProcessReader().read(), "another mark")
    daemon.kill()


ME = {1: SocketOwner(10, "me")}


def at(address: str, number: int = 1) -> ListeningSocket:
    return ListeningSocket(80, address, number)


def test_a_port_is_reached_where_it_listens() -> None:
    assert reachable(80, frozenset([at("127.0.0.1")]), ME) == ["127.0.0.1"]
    assert reachable(80, frozenset([at("0.0.0.0")]), ME) == ["127.0.0.1"]
    assert reachable(80, frozenset([at("::1")]), ME) == ["::1"]
    assert reachable(80, frozenset([at("::")]), ME) == ["127.0.0.1", "::1"]
    assert reachable(80, frozenset([at("10.1.2.3")]), ME) == ["10.1.2.3"]
    assert reachable(80, frozenset([at("10.1.2.3"), at("::1")]), ME) == ["::1", "10.1.2.3"]


def test_a_port_is_not_reached_where_somebody_else_listens() -> None:
    assert reachable(80, frozenset([at("127.0.0.1", 2)]), ME) == []
    assert reachable(80, frozenset([at("::"), at("127.0.0.1", 2)]), ME) == ["::1"]
    assert reachable(80, frozenset([at("127.0.0.2"), at("127.0.0.1", 2)]), ME) == ["127.0.0.2"]
    assert reachable(81, frozenset([at("0.0.0.0")]), ME) == []
