"""The screen process: it answers in order, is limited, and ends with the runtime."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hawse_runtime.code.host_protocol import OWN_PYTHON
from hawse_runtime.core.framing import LENGTH, FrameDecoder
from hawse_runtime.posix.spawn import spawn_own
from hawse_runtime.screen.emulator.process import DESCRIPTORS, serve
from hawse_runtime.screen.requests import ANSWER_LIMIT, Answer, AnyRequest, Feed, Open, Text, decode_answer, framed
from hawse_runtime.screen.screen_process import MODULE

TIMEOUT = 20.0


def ask(connection: socket.socket, *requests: AnyRequest) -> list[Answer]:
    """Send the first requests and return their answers."""
    connection.sendall(b"".join(map(framed, requests)))
    decoder, answers = FrameDecoder(ANSWER_LIMIT), list[Answer]()
    while len(answers) < len(requests) + 1:
        data = connection.recv(1 << 16)
        assert data, "the connection was closed"
        answers += map(decode_answer, decoder.feed(data))
    assert answers[0] == Answer(), "it is ready"
    return answers[1:]


class Started:
    def __init__(self) -> None:
        self.connection, theirs = socket.socketpair()
        self.connection.settimeout(TIMEOUT)
        with theirs:
            self.pid = spawn_own([*OWN_PYTHON, MODULE], extra=theirs.fileno())

    def ended(self) -> int:
        """Wait for the end of the process; return its exit code, negative for a signal."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.fixture
def started() -> Iterator[Started]:
    process = Started()
    yield process
    process.connection.close()


def test_it_answers_requests_in_order_until_the_connection_is_closed() -> None:
    ours, theirs = socket.socketpair()
    ours.settimeout(TIMEOUT)
    thread = threading.Thread(target=serve, args=(theirs,))
    thread.start()
    with ours:
        answers = ask(ours, Open(1, 20, 3), Feed(1, b"a\x1b[6n", answers=True), Text(1))
        assert [answer.replies for answer in answers] == [b"", b"\x1b[1;2R", b""]
        assert answers[2].data.strip() == b"a"
        ours.sendall(LENGTH.pack(100) + b"cut")
    thread.join(TIMEOUT)
    assert not thread.is_alive()


def test_it_ends_when_the_connection_is_closed(started: Started) -> None:
    ask(started.connection, Open(1, 80, 24))
    started.connection.close()
    assert started.ended() == 0


def test_it_has_few_descriptors_no_environment_and_limits(started: Started) -> None:
    ask(started.connection, Open(1, 80, 24))
    root = Path("/proc", str(started.pid))
    limits = (root / "limits").read_text()
    assert f"Max open files            {DESCRIPTORS}" in limits
    assert "Max core file size        0" in limits
    assert "Max address space         unlimited" not in limits
    status = (root / "status").read_text()
    assert "NoNewPrivs:\t1" in status
    if os.access(root / "fd", os.R_OK):  # it denies dumps: only root may look
        assert sorted(os.listdir(root / "fd")) == ["0", "1", "2", "3"]
        assert [line.partition(b"=")[0] for line in (root / "environ").read_bytes().split(b"\0") if line] == [b"PATH"]
    started.connection.close()
    started.ended()


PARENT = """
import os, signal, socket, sys
from hawse_runtime.code.host_protocol import OWN_PYTHON
from hawse_runtime.posix.spawn import spawn_own
ours, theirs = socket.socketpair()
keep = os.dup(ours.fileno())
os.set_inheritable(keep, True)  # the other end stays open, in a process that lives on
pid = spawn_own([*OWN_PYTHON, "hawse_runtime.screen.emulator.process"], extra=theirs.fileno())
from hawse_runtime.screen.requests import Open, framed
ours.sendall(framed(Open(1, 80, 24)))
ours.recv(1)
print(pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_it_ends_with_its_parent_also_if_the_connection_stays_open() -> None:
    parent = subprocess.run([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, timeout=TIMEOUT, check=False)
    assert parent.returncode == -signal.SIGKILL
    pid = int(parent.stdout)
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        import select

        assert select.select([pidfd], [], [], TIMEOUT)[0], "it still runs"
    finally:
        os.close(pidfd)
