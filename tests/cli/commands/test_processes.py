import json
import secrets
import subprocess
import sys
from typing import Any

import pytest

from hawse.cli import main
from hawse.cli.target import Target
from hawse.client import Client, Sandbox
from tests.support.stack import Stack


def start(gateway: Stack, command: str, printed: str = "\n") -> str:
    """Start a process and wait until it has printed a text; return its id."""
    name = f"p-{secrets.token_hex(4)}"

    async def work(client: Client, box: Sandbox) -> Any:
        process = await box.processes.start(command, id=name)
        await process.wait_for_log(printed)

    Target(url=gateway.base, token=gateway.token).run(work)
    return name


def test_running_processes_are_listed_and_ended_ones_on_request(
    gateway: Stack, capsys: pytest.CaptureFixture[str]
) -> None:
    running, done = start(gateway, "echo; exec sleep 1000"), start(gateway, "echo hello; exit 3")
    subprocess.run([sys.executable, "-m", "hawse.cli", "logs", "-f", done], check=False, capture_output=True)
    assert main(["ps"]) == 0
    shown = capsys.readouterr().out
    assert running in shown
    assert done not in shown
    assert main(["ps", "--all"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith(done)]
    assert "exited 3" in line
    assert "6 B" in line
    assert main(["kill", running]) == 0
    main(["ps", "--json"])
    assert running not in [each["id"] for each in json.loads(capsys.readouterr().out)]


def test_killing_what_does_not_exist_is_reported_and_the_others_end(
    gateway: Stack, capsys: pytest.CaptureFixture[str]
) -> None:
    running = start(gateway, "echo; exec sleep 1000")
    assert main(["kill", "missing", running]) == 1
    assert "missing: not_found" in capsys.readouterr().err
    main(["ps"])
    assert running not in capsys.readouterr().out


def test_a_terminal_is_ended_with_its_option(gateway: Stack) -> None:
    async def work(client: Client, box: Sandbox) -> Any:
        return await box.call("terminal.create", {"id": "to-end", "argv": ["sh"]})

    Target(url=gateway.base, token=gateway.token).run(work)
    assert main(["kill", "-t", "to-end", "--grace", "0"]) == 0


def test_logs_prints_what_is_kept_and_returns_while_the_process_runs(gateway: Stack) -> None:
    running = start(gateway, "echo out; echo err >&2; exec sleep 1000", printed="err\n")
    done = subprocess.run(
        [sys.executable, "-m", "hawse.cli", "logs", running], capture_output=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr, done.returncode) == (b"out\n", b"err\n", 0)
    main(["kill", running])


def test_logs_of_a_process_without_output_returns(gateway: Stack, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    async def work(client: Client, box: Sandbox) -> str:
        return (await box.processes.start("exec sleep 1000")).id

    silent = Target(url=gateway.base, token=gateway.token).run(work)
    assert main(["logs", silent]) == 0
    main(["kill", silent])


def test_following_logs_ends_with_the_process_and_its_code(gateway: Stack) -> None:
    name = start(gateway, "for i in 1 2 3; do echo $i; done; exit 9")
    done = subprocess.run(
        [sys.executable, "-m", "hawse.cli", "logs", "-f", "--json", name], capture_output=True, timeout=60, check=False
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert "".join(each["data"] for each in lines) == "1\n2\n3\n"
    assert done.returncode == 9


def test_characters_that_arrive_in_parts_are_whole_in_json(gateway: Stack) -> None:
    # More than one part of the output: with one more byte at the beginning, characters begin at odd offsets.
    name = start(gateway, "printf x; for i in $(seq 20); do printf 'ü%.0s' $(seq 10000); done; echo; exec sleep 1000")
    command = [sys.executable, "-m", "hawse.cli", "logs", "--json", name]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    parts = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(parts) > 1
    assert "".join(each["data"] for each in parts) == "x" + 200_000 * "ü" + "\n"
    assert main(["kill", name]) == 0
