"""Finds programs listening on TCP ports, using /proc/net/tcp and the programs' descriptors (proc(5)).

A sandbox may share its network with the machine (docs/decisions/0002), so a port belongs to the sandbox only if one of
its programs holds the socket. A program belongs to the sandbox if it descends from the runtime or, if its parents have
exited, has the runtime's mark in its environment. All functions read /proc: call them in a thread.
"""

import ipaddress
import os
import struct
from collections.abc import Iterator
from typing import NamedTuple

from hawse_runtime.core.private_tempdir import PREFIX
from hawse_runtime.posix.proc import list_proc, open_proc, read_link, read_proc
from hawse_runtime.posix.process_table import RUNTIME_MARK, ProcessTable

TABLES = ("net/tcp", "net/tcp6")  # relative to /proc
LISTEN = "0A"
EPHEMERAL = 32768  # the first ephemeral port (ip(7), ip_local_port_range)
OWN_DIRECTORY = f"/{PREFIX}".encode()
ANY = ("0.0.0.0", "::")
LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # the address to connect to when a socket listens on all addresses


class ListeningSocket(NamedTuple):
    """A socket listening on a TCP port."""

    port: int
    address: str
    inode: int


class SocketOwner(NamedTuple):
    """The program that holds a socket. `executor` is true if the program is an executor of a context or of the pool."""

    pid: int
    name: str
    executor: bool = False


def sockets() -> frozenset[ListeningSocket]:
    """Return all listening sockets in this network namespace, including other programs' sockets."""
    return frozenset(socket for table in TABLES for socket in _table(table))


def owners(table: ProcessTable, runtime: str) -> dict[int, SocketOwner]:
    """Return the owners of all sockets held by programs of the runtime whose id is `runtime`, keyed by inode."""
    found: dict[int, SocketOwner] = {}
    descendants = {member.pid for member in table.members(os.getpid())}
    for pid in sorted(descendants | table.marked(f"{RUNTIME_MARK}={runtime}")):
        inodes = list(_inodes(pid))
        if inodes:
            owner = SocketOwner(pid, _name(pid), _is_executor(pid))
            for inode in inodes:
                found.setdefault(inode, owner)
    return found


def is_internal(socket: ListeningSocket, owner: SocketOwner) -> bool:
    """Return whether an executor uses the socket internally, as ipykernel and Deno do for output and messages.

    Such a socket can't be told apart from one opened by user code, so all sockets like it count as internal.
    """
    return owner.executor and socket.address == "127.0.0.1" and socket.port >= EPHEMERAL


def reachable(port: int, listening: frozenset[ListeningSocket], ours: dict[int, SocketOwner]) -> list[str]:
    """Return the addresses where connections to `port` reach only this runtime's programs."""
    own = [socket for socket in listening if socket.port == port and socket.inode in ours]
    foreign = {socket.address for socket in listening if socket.port == port and socket.inode not in ours}
    places = [LOOPBACK.get(socket.address, socket.address) for socket in own]
    if any(socket.address == "::" for socket in own) and not foreign:
        places.append("127.0.0.1")  # a socket on `::` may also accept IPv4, which works on a machine without ::1
    return [place for place in sorted(dict.fromkeys(places), key=_nearest) if place not in foreign]


def _nearest(address: str) -> tuple[bool, bool, str]:
    """Return a sort key that puts loopback addresses first (IPv4 before IPv6), followed by other addresses."""
    return not ipaddress.ip_address(address).is_loopback, ":" in address, address


def _table(path: str) -> Iterator[ListeningSocket]:
    try:
        with open(open_proc(path)) as table:
            next(table)
            for line in table:
                _, local, _, state, *rest = line.split()
                if state != LISTEN:
                    return  # the kernel lists listening sockets first, and there may be many others after them
                address, _, port = local.partition(":")
                yield ListeningSocket(int(port, 16), _address(address), int(rest[5]))
    except (FileNotFoundError, StopIteration):  # the kernel doesn't support IPv6
        return


def _address(text: str) -> str:
    """Decode 32-bit numbers in host byte order. An IPv4-mapped IPv6 address becomes an IPv4 address."""
    packed = b"".join(struct.pack("=I", int(text[at : at + 8], 16)) for at in range(0, len(text), 8))
    address = ipaddress.ip_address(packed)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


def _name(pid: int) -> str:
    try:
        return read_proc(f"{pid}/comm").decode(errors="replace").strip()
    except OSError:
        return ""


def _is_executor(pid: int) -> bool:
    """Return whether a program was started with a connection file from the kernel host's directory."""
    try:
        return OWN_DIRECTORY in read_proc(f"{pid}/cmdline")
    except OSError:
        return False


def _inodes(pid: int) -> Iterator[int]:
    folder = f"{pid}/fd"
    try:
        for fd in list_proc(folder):
            target = _target(f"{folder}/{fd}")
            if target.startswith("socket:["):
                yield int(target[8:-1])
    except OSError:
        return


def _target(path: str) -> str:
    try:
        return read_link(path)
    except OSError:
        return ""
