"""The limit of running processes, and the shell that runs commands."""

import pytest

from hawse_runtime.process.launcher import command_shell
from hawse_runtime.process.process import ProcessLimits
from hawse_runtime.settings import RuntimeLimits
from tests.support.runtime import Client


@pytest.mark.parametrize("limits", [RuntimeLimits(programs=ProcessLimits(running=2))])
async def test_starts_beyond_the_limit_of_running_processes_are_refused(client: Client) -> None:
    client.execute("sleep 60")
    await client.ask("process.start", command="sleep 60")
    assert (await client.refused("process.start", command="true")).code == "limit_exceeded"
    assert (await client.refused("exec", command="true")).code == "limit_exceeded"


async def test_a_command_runs_in_the_first_shell_that_can_be_executed(client: Client) -> None:
    assert (await client.ask("process.start", command="true"))["argv"][0] == command_shell() == "/bin/bash"
    assert command_shell(("/no/such/bash", "/bin/sh")) == "/bin/sh"
    assert command_shell(("/no/such/bash", "/no/such/sh")) == "/no/such/sh"
