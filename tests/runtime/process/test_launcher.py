"""What is started, with which shell, and how much of it."""

import pytest

from runtime.process import launcher as launch
from tests.support.runtime import Client


async def test_there_is_a_limit(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "RUNNING_LIMIT", 2)
    client.execute("sleep 60")
    await client.ask("process.start", command="sleep 60")
    assert (await client.refused("process.start", command="true")).code == "limit_exceeded"
    assert (await client.refused("exec", command="true")).code == "limit_exceeded"


async def test_a_command_without_bash_runs_in_sh(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "_SHELLS", ("/no/such/bash", "/bin/sh"))
    started = await client.ask("process.start", command="true")
    assert started["argv"][0] == "/bin/sh"
