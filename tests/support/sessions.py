"""Support for the tests of sessions: the two shells, and functions that run a command to completion."""

from typing import Any

import pytest

from tests.support.runtime import Channel, Client

SHELLS = pytest.mark.parametrize("shell", ["/bin/bash", "/bin/sh"])


def execute(client: Client, command: str, session: str = "s", *, key: str | None = None, **params: Any) -> Channel:
    return client.call("session.exec", {"id": session, "command": command, **params}, key=key)


async def run(client: Client, command: str, session: str = "s", **params: Any) -> tuple[int, bytes, bytes]:
    """Run a command; return its exit code, stdout and stderr."""
    call = execute(client, command, session, **params)
    result = await call.result()
    assert (result["stdout"], result["stderr"]) == (len(call.output), len(call.stderr))
    return result["code"], bytes(call.output), bytes(call.stderr)
