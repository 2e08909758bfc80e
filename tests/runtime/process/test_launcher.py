"""The limit of running processes, and the shell that runs commands."""

import pytest

from runtime.process import launcher
from runtime.process.process import ProcessLimits
from runtime.settings import RuntimeLimits
from tests.support.runtime import Client


@pytest.mark.parametrize("limits", [RuntimeLimits(programs=ProcessLimits(running=2))])
async def test_starts_beyond_the_limit_of_running_processes_are_refused(client: Client) -> None:
    client.execute("sleep 60")
    await client.ask("process.start", command="sleep 60")
    assert (await client.refused("process.start", command="true")).code == "limit_exceeded"
    assert (await client.refused("exec", command="true")).code == "limit_exceeded"


async def test_a_command_without_bash_runs_in_sh(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "_SHELLS", ("/no/such/bash", "/bin/sh"))
    started = await client.ask("process.start", command="true")
    assert started["argv"][0] == "/bin/sh"
