"""git methods against real servers: sshd with a throw-away key, and git daemon."""

import asyncio
import getpass
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from shutil import which

import pytest
import pytest_asyncio

import hawse
from e2e.apps.servers import server
from hawse.client import Sandbox
from hawse.wire import HawseError
from tests.support.stack import Stack, free_port

SSHD_PROGRAM = os.path.realpath(which("sshd") or "sshd")  # it starts itself again and needs its own path
GIT_FOLDER = os.path.dirname(os.path.realpath(which("git") or ""))  # of git-upload-pack, which PATH here lacks
pytestmark = pytest.mark.asyncio(loop_scope="session")
AUTHOR = {"GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@hawse.test"}
COMMITTER = {"GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@hawse.test"}
SSHD = """
ListenAddress 127.0.0.1:{port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
AuthenticationMethods publickey
StrictModes no
UsePAM no
PermitRootLogin yes
SetEnv PATH={path} HOME={folder}
"""
SSH = """
Host *
  Port {port}
  IdentityFile {folder}/user
  UserKnownHostsFile {folder}/known_hosts
  StrictHostKeyChecking yes
  BatchMode yes
"""


async def run(*command: str | Path) -> None:
    process = await asyncio.create_subprocess_exec(*map(str, command), stdout=asyncio.subprocess.DEVNULL)
    assert await process.wait() == 0, command


@pytest_asyncio.fixture(loop_scope="session")
async def repository(tmp_path: Path) -> Path:
    """A bare repository with one commit, that may be pushed to."""
    work, bare = tmp_path / "work", tmp_path / "srv" / "project.git"
    await run("git", "init", "-q", "-b", "main", work)
    (work / "readme").write_text("first\n")
    await run("git", "-C", work, "add", ".")
    await run("git", "-C", work, "-c", "user.name=Ann", "-c", "user.email=ann@hawse.test", "commit", "-qm", "first")
    await run("git", "clone", "-q", "--bare", work, bare)
    return bare


@pytest_asyncio.fixture(loop_scope="session")
async def ssh_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[int]:
    """An sshd that accepts one key, found through GIT_SSH_COMMAND. Its shells read no start-up files of the user."""
    folder, port = tmp_path / "ssh", free_port()
    folder.mkdir(mode=0o700)
    for name in ("host", "user"):
        await run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name)
    (folder / "sshd_config").write_text(SSHD.format(port=port, folder=folder, path=GIT_FOLDER))
    (folder / "ssh_config").write_text(SSH.format(port=port, folder=folder))
    host_key = " ".join((folder / "host.pub").read_text().split()[:2])
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {host_key}\n")
    monkeypatch.setenv("GIT_SSH_COMMAND", f"ssh -F {folder}/ssh_config")
    if os.getuid() == 0:  # as root, Debian's sshd needs this folder, which the service would make
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
    async with server([SSHD_PROGRAM, "-D", "-e", "-f", folder / "sshd_config"], port, log=folder / "log"):
        yield port


@pytest_asyncio.fixture(loop_scope="session")
async def daemon_port(repository: Path, tmp_path: Path) -> AsyncIterator[int]:
    """A git daemon that permits pushes."""
    port = free_port()
    options = [f"--base-path={repository.parent}", "--export-all", "--enable=receive-pack", "--reuseaddr"]
    address = ["--listen=127.0.0.1", f"--port={port}"]
    async with server(["git", "daemon", *options, *address], port, log=tmp_path / "daemon.log"):
        yield port


@pytest_asyncio.fixture(loop_scope="session")
async def exits() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as exits:
        yield exits


async def sandbox_of(exits: AsyncExitStack, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """Start a gateway whose runtimes commit as Ann."""
    for name, value in (AUTHOR | COMMITTER).items():
        monkeypatch.setenv(name, value)
    stack = await exits.enter_async_context(Stack(folder / "state"))
    return (await exits.enter_async_context(hawse.connect(stack.base, token=stack.token))).sandbox()


async def work_with(sandbox: Sandbox, url: str) -> None:
    """Clone twice, push from one clone, and pull into the other."""
    head = await sandbox.git.clone(url, "one")
    assert head.branch == "main"
    await sandbox.git.clone(url, "two", depth=1)
    await sandbox.files.write("one/readme", b"second\n")
    await sandbox.git.add(path="one", all=True)
    await sandbox.git.commit("second", path="one")
    await sandbox.git.push(path="one")
    await sandbox.git.pull(path="two")
    assert await sandbox.files.read("two/readme") == b"second\n"


async def test_clone_push_and_pull_over_ssh(
    ssh_port: int, repository: Path, exits: AsyncExitStack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = await sandbox_of(exits, tmp_path, monkeypatch)
    await work_with(sandbox, f"ssh://{getpass.getuser()}@127.0.0.1{repository}")
    await sandbox.git.clone(f"{getpass.getuser()}@127.0.0.1:{repository}", "scp")
    assert await sandbox.files.read("scp/readme") == b"second\n"


async def test_an_unknown_ssh_host_or_key_is_refused(
    ssh_port: int, repository: Path, exits: AsyncExitStack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = await sandbox_of(exits, tmp_path, monkeypatch)
    known = tmp_path / "ssh" / "known_hosts"
    url = f"ssh://{getpass.getuser()}@127.0.0.1{repository}"
    accepted = known.read_text()
    known.write_text("")
    with pytest.raises(HawseError, match="Host key verification failed"):
        await sandbox.git.clone(url, "a")
    known.write_text(accepted)
    (tmp_path / "ssh" / "user.pub").write_text("")
    with pytest.raises(HawseError, match="Permission denied") as caught:
        await sandbox.git.clone(url, "b")
    assert caught.value.code == "permission_denied"


async def test_clone_push_and_pull_over_git_protocol(
    daemon_port: int, exits: AsyncExitStack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = await sandbox_of(exits, tmp_path, monkeypatch)
    await work_with(sandbox, f"git://127.0.0.1:{daemon_port}/project.git")
    with pytest.raises(HawseError):
        await sandbox.git.clone(f"git://127.0.0.1:{daemon_port}/missing.git")
