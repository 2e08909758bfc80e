"""Runs every program in examples/ against a real gateway, and checks its output."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.stack import Stack, free_port

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TIMEOUT = 60.0  # s for one program on a busy machine

# Patterns in each program's output, in order.
PRINTS = {
    "run_command.py": ["system: Linux", "ls: 2 stderr: .*nothing-here", "words: 3", "slow: started timed out: True"],
    "run_code.py": ["value: 30", "html: <b>bold</b>", "error: ZeroDivisionError", "output: hello Ada"],
    "shared_terminal.py": [
        r"participants: \['Ada', 'helper'\]",
        "on screen: True",
        "exit code: 2",
        "answer: gateway",
        "only the agent may type: True",
    ],
    "watch_files.py": [r"(a\.txt -> first\nb\.txt -> second|b\.txt -> second\na\.txt -> first)"],
    "dev_server.py": [r"open: http://\d+-local-[a-z0-9]+\.localhost:\d+/", "page: <h1>It works</h1>"],
    "resume.py": [r"disconnected at offset \d+", "nothing lost or doubled: True"],
    "coding_agent.py": [r"exec: \[exit code 1\]", "file_edit: replaced 1 time", r"exec: \[exit code 0\]"],
    "collaborative_shell.py": [
        r"a browser opens: http://127.0.0.1:\d+/\?sandbox=local&terminal=shared",
        r"participants: \['Ada', 'Bob'\]",
        "one shell: hello Bob from /",
        "while the owner types alone: lease_held",
        "commands of the guest: forbidden",
        "after the end of the link: unauthenticated",
    ],
    "log_follower.py": [
        "the first follower ended after event 100",
        "the second one continued with event 101",
        "nothing lost or doubled: True",
    ],
    "repl.py": ["breakpoint in line 5", "total: 9", "result: 3.0", "exit: 0"],
    "http_api.sh": [
        '"code":3.*"stdout":"hello.n","stderr":"problem.n"',
        '"stdout":"a.nb.n"',
        '"bytes":10',
        "some text",
        r'event: stdout\ndata: \{"offset":0,"text":"1.n"\}',
        "event: result",
        '"code":"not_found".*"retryable":false',
    ],
    "flask_app.py": [
        '"square":0.*\n.*"square":1.*\n.*"square":4',
        r"streamed: \['1', '2', '3'\]",
        'missing: 404 {"code":"not_found"}',
    ],
    "raw_wire.py": ["welcome, role: owner", "frame: kind 1, offset 0, b'42.n'", "result: {'code': 0"],
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    """Start one gateway for all programs, which use different terminals, directories and ports."""
    async with Stack(tmp_path_factory.mktemp("examples") / "state") as stack:
        yield stack


def programs() -> list[str]:
    return sorted(path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".sh"))


def arguments(name: str) -> list[str]:
    """Return the arguments after the gateway's address: a free port for the server, since tests run in parallel."""
    return [str(free_port())] if name == "dev_server.py" else []


def test_every_example_has_a_test_and_a_row_in_the_readme() -> None:
    assert programs() == sorted(PRINTS)
    rows = re.findall(r"^\| \[([^\]]+)\]", (EXAMPLES / "README.md").read_text("utf-8"), re.M)
    assert sorted(rows) == programs()


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", programs())
async def test_the_example_runs(name: str, gateway: Stack, tmp_path: Path) -> None:
    interpreter = "sh" if name.endswith(".sh") else sys.executable
    process = await asyncio.create_subprocess_exec(
        interpreter,
        str(EXAMPLES / name),
        gateway.url,
        *arguments(name),
        cwd=tmp_path,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(TIMEOUT):
        out, err = await process.communicate()
    printed = out.decode()
    assert (process.returncode, err.decode()) == (0, ""), printed
    rest = printed
    for pattern in PRINTS[name]:
        match = re.search(pattern, rest)
        assert match is not None, f"{pattern!r} is not in the output, or not in this order:\n{printed}"
        rest = rest[match.end() :]
