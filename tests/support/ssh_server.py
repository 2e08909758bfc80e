"""A real SSH server on 127.0.0.1, and a program `ssh` that is configured to reach it as `localhost`."""

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.support.stack import free_port

SSHD = "/usr/sbin/sshd"


@asynccontextmanager
async def ssh_server(folder: Path) -> AsyncIterator[Path]:
    """Run a server for this user. Yields the directory with the program `ssh`, to be put first in PATH."""
    await _run("mkdir", str(folder))
    for name in ("host", "user"):
        await _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name))
    programs = _prepare(folder)
    server = await asyncio.create_subprocess_exec(
        SSHD, "-D", "-e", "-f", str(folder / "sshd.conf"), stderr=asyncio.subprocess.PIPE, start_new_session=True
    )
    assert server.stderr is not None
    try:
        while b"Server listening" not in (line := await server.stderr.readline()):
            assert line, "the SSH server has ended"
        reading = asyncio.create_task(server.stderr.read())
        yield programs
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        await server.wait()
    await reading


async def _run(*command: str) -> None:
    process = await asyncio.create_subprocess_exec(*command)
    assert await process.wait() == 0, command


def _prepare(folder: Path) -> Path:
    """Write the settings of both ends. Return the directory with the program `ssh`."""
    port = free_port()
    (folder / "sshd.conf").write_text(f"""\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
StrictModes no
UsePAM no
PasswordAuthentication no
PidFile none
""")
    key = (folder / "host.pub").read_text()
    (folder / "known").write_text(f"[127.0.0.1]:{port} {key}")
    (folder / "ssh.conf").write_text(f"""\
Host localhost
  HostName 127.0.0.1
  Port {port}
  IdentityFile {folder}/user
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known
""")
    programs = folder / "bin"
    programs.mkdir()
    ssh = programs / "ssh"
    ssh.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/ssh.conf "$@"\n')
    ssh.chmod(0o755)
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # a directory that Debian creates when the service starts
    return programs
