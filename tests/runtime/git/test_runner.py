"""Running git: its environment, its credentials, its limits and its end."""

import asyncio
import os
import stat
from pathlib import Path

import pytest

from hawse.api.git import GitCredentials
from hawse.wire import HawseError
from hawse_runtime.git import runner
from hawse_runtime.git.runner import Access, GitLimits, GitRunner
from hawse_runtime.posix.environment import Environment
from hawse_runtime.posix.process_tree import ProcessTrees
from tests.support.git_server import repository
from tests.support.runtime import children, no_fd_leaked
from tests.support.waiting import exists


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a program `git` on PATH. A test writes a script there, to see how git is called."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    return tmp_path / "bin/git"


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def git(tmp_path: Path, fake: Path, trees: ProcessTrees) -> GitRunner:
    return GitRunner(Environment(tmp_path), trees)


async def test_stdout_and_stderr_are_separate(git: GitRunner, fake: Path, tmp_path: Path) -> None:
    script(fake, "printf out; printf err >&2; cat; exit 3")
    ran = await git.run(cwd=str(tmp_path), stdin=b"in" * 100_000, accept=(3,))
    assert (ran.code, ran.stdout, ran.stderr, ran.truncated) == (3, b"out" + b"in" * 100_000, b"err", False)
    with pytest.raises(HawseError) as failed:
        await git.run(cwd=str(tmp_path), stdin=b"")
    assert failed.value.details["code"] == 3


async def test_git_variables_of_the_runtime_do_not_reach_git(
    fake: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    trees: ProcessTrees,
) -> None:
    for name in ("GIT_DIR", "GIT_TRACE", "GIT_CURL_VERBOSE", "GIT_CONFIG_COUNT", "GIT_ASKPASS"):
        monkeypatch.setenv(name, "/x")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Ann")
    script(fake, "env")
    ran = await GitRunner(Environment(tmp_path), trees).run(cwd=str(tmp_path))
    env = dict(line.split("=", 1) for line in ran.stdout.decode().splitlines())
    theirs = {name for name in env if name.startswith("GIT_") and not name.startswith("GIT_SSL_")} - set(
        runner.ENVIRONMENT
    )
    assert theirs == {"GIT_AUTHOR_NAME"}
    assert (env["GIT_TERMINAL_PROMPT"], env["GIT_ASKPASS"]) == ("0", "")


async def test_credentials_can_be_read_from_a_descriptor_any_number_of_times(
    git: GitRunner, fake: Path, tmp_path: Path
) -> None:
    access = Access("https://host", GitCredentials(username="ann", password="p w"))
    script(fake, 'echo "$@"; env; cat /proc/self/fd/3 /proc/self/fd/3 >&2')
    with no_fd_leaked():
        ran = await git.run(cwd=str(tmp_path), access=access)
    assert ran.stderr == b"username=ann\npassword=p w\n" * 2
    assert b"p w" not in ran.stdout
    assert b"credential.helper= " in ran.stdout
    assert b"credential.https://host.helper=!" in ran.stdout
    script(fake, "[ -e /proc/self/fd/3 ] && echo open; true")
    assert (await git.run(cwd=str(tmp_path))).stdout == b""


async def test_a_process_that_git_left_running_reads_no_credentials(git: GitRunner, fake: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    later = f"read x <{tmp_path}/go; cat /proc/self/fd/3 >{tmp_path}/seen; mv {tmp_path}/seen {tmp_path}/done"
    script(fake, f"({later}) >/dev/null 2>&1 &")
    await git.run(cwd=str(tmp_path), access=Access("https://host", GitCredentials(password="secret")))
    await asyncio.to_thread((tmp_path / "go").write_text, "x\n")
    await exists(tmp_path / "done")
    assert await asyncio.to_thread((tmp_path / "done").read_bytes) == b""


async def test_a_timeout_ends_the_whole_process_tree(git: GitRunner, fake: Path, tmp_path: Path) -> None:
    script(fake, "sleep 1000 & sleep 1000 & wait")
    before = children()
    with no_fd_leaked(), pytest.raises(HawseError, match="deadline_exceeded"):
        await git.run(cwd=str(tmp_path), timeout=0.2)
    assert children() == before


async def test_output_beyond_the_limit_ends_git(git: GitRunner, fake: Path, tmp_path: Path) -> None:
    script(fake, "yes")
    with no_fd_leaked():
        ran = await git.run(cwd=str(tmp_path), limit=1000)
    assert (len(ran.stdout), ran.truncated) == (1000, True)


async def test_output_of_exactly_the_limit_is_not_truncated(git: GitRunner, fake: Path, tmp_path: Path) -> None:
    script(fake, "printf 12345")
    ran = await git.run(cwd=str(tmp_path), limit=5)
    assert (ran.stdout, ran.truncated) == (b"12345", False)


async def test_close_ends_all_commands_and_refuses_new_ones(git: GitRunner, fake: Path, tmp_path: Path) -> None:
    script(fake, "echo begun >&2; sleep 1000")
    begun = [asyncio.Event() for _ in range(3)]
    before = children()
    async with asyncio.TaskGroup() as tasks:
        runs = [
            tasks.create_task(ended(git, tmp_path, event)) for event in begun
        ]  # fmt: skip
        for event in begun:
            await event.wait()
        await git.close()
    assert [run.result() for run in runs] == ["cancelled"] * 3
    assert children() == before
    with pytest.raises(HawseError, match="limit_exceeded"):
        await git.run(cwd=str(tmp_path))


async def ended(git: GitRunner, folder: Path, begun: asyncio.Event) -> str:
    try:
        await git.run(cwd=str(folder), on_stderr=lambda data: begun.set())
    except HawseError as error:
        return error.code
    return "done"


async def test_commands_beyond_the_limit_are_refused(tmp_path: Path, trees: ProcessTrees) -> None:
    git = GitRunner(Environment(tmp_path), trees, GitLimits(running=0))
    with pytest.raises(HawseError, match="limit_exceeded"):
        await git.run(cwd=str(tmp_path))


async def test_without_git_no_descriptor_is_left_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trees: ProcessTrees
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    access = Access("https://host", GitCredentials(password="x"))
    with no_fd_leaked(), pytest.raises(HawseError, match="spawn_failed"):
        await GitRunner(Environment(tmp_path), trees).run("status", cwd=str(tmp_path), access=access)


async def test_the_output_of_a_real_git_is_in_the_language_that_is_parsed(tmp_path: Path, trees: ProcessTrees) -> None:
    repository(tmp_path / "repo", {"a": "1"})
    ran = await GitRunner(Environment(tmp_path), trees).run(
        "status", "--porcelain=v2", "--branch", cwd=str(tmp_path / "repo")
    )
    assert b"# branch.head main" in ran.stdout
    with pytest.raises(HawseError) as failed:
        await GitRunner(Environment(tmp_path), trees).run("checkout", "none", "--", cwd=str(tmp_path / "repo"))
    assert failed.value.details["reason"] == "revision"
