"""What a confined process can still do: read the files it was given, and nothing else."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from hawse_gateway.providers.isolation import host_user

USER = host_user.of_process("a test") if os.getuid() == 0 else None

# Confines itself, tries what is named by its argument, and prints the error.
PROGRAM = f"""
import contextlib, encodings.idna, os, socket, sys
from hawse_gateway.core.confinement import confine
readable, writable, what, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
parent = os.getppid()
confine(user={USER!r}, memory=1 << 30, file_size=1000, read=[readable], write=[writable])
try:
    if what == "read":
        print(open(f"/proc/self/fd/{{readable}}").read())
    elif what == "write":
        open(f"/proc/self/fd/{{writable}}", "w").write("written")
    elif what == "write what is readable":
        open(f"/proc/self/fd/{{readable}}", "w")
    elif what == "run a program":
        print(os.execv("/bin/sh", ["sh", "-c", "echo ran"]))
    elif what == "read another file":
        open(path)
    elif what == "read a process":
        open(f"/proc/{{parent}}/environ")
    elif what == "signal a process":
        os.kill(parent, 0)
    elif what == "create a file":
        open("/tmp/x", "w")
    elif what == "connect":
        socket.create_connection(("127.0.0.1", int(path)), timeout=5)
    elif what == "fill the disk":
        os.write(writable, bytes(1001)) == 1000 and os.write(writable, b"x")
    elif what == "fill the memory":
        bytearray(1 << 30)
    elif what == "become another user":
        with contextlib.suppress(OSError):
            os.setuid(0)
        open("/etc/shadow")
except (OSError, MemoryError) as error:
    print(type(error).__name__)
"""


@pytest.fixture
def other(tmp_path: Path) -> Path:
    path = tmp_path / "other"
    path.write_text("of others")
    return path


def tried(folder: Path, what: str, path: str = "") -> str:
    given = folder / "given"
    given.unlink(missing_ok=True)  # of an earlier call
    given.write_text("content")
    given.chmod(0o444)
    out = os.open(folder / "out", os.O_RDWR | os.O_CREAT)
    if USER is not None:
        os.fchown(out, USER, USER)
    readable = os.open(given, os.O_RDONLY)
    argv = [sys.executable, "-c", PROGRAM, str(readable), str(out), what, path]
    try:
        done = subprocess.run(argv, pass_fds=[readable, out], capture_output=True, text=True, timeout=60, check=True)
    finally:
        os.close(readable)
        os.close(out)
    return done.stdout.strip()


def test_it_reads_and_writes_the_given_files_and_runs_programs_of_the_system(tmp_path: Path) -> None:
    assert tried(tmp_path, "read") == "content"
    assert tried(tmp_path, "write") == ""
    assert (tmp_path / "out").read_text() == "written"
    assert tried(tmp_path, "run a program") == "ran"


@pytest.mark.parametrize(
    "what", ["write what is readable", "read a process", "signal a process", "create a file", "become another user"]
)
def test_it_reaches_no_other_file_and_no_process(tmp_path: Path, what: str) -> None:
    assert tried(tmp_path, what) == "PermissionError"


def test_it_reads_no_other_file(tmp_path: Path, other: Path) -> None:
    assert tried(tmp_path, "read another file", str(other)) == "PermissionError"


def test_it_has_no_network_not_even_that_of_the_machine(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert tried(tmp_path, "connect", str(server.getsockname()[1])) == "OSError"


def test_its_files_and_its_memory_are_bounded(tmp_path: Path) -> None:
    assert tried(tmp_path, "fill the disk") == "OSError"
    assert (tmp_path / "out").stat().st_size == 1000
    assert tried(tmp_path, "fill the memory") == "MemoryError"
