"""Each method of a sandbox's life makes the call that it is for."""

from typing import Any, cast

import pytest

from hawse.api import Params
from hawse.api.sandboxes import (
    SandboxDelete,
    SandboxGet,
    SandboxPause,
    SandboxResume,
    SandboxStart,
    SandboxStop,
    SandboxUpdate,
)
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.sandbox.sandbox import Sandbox


class Recorded:
    """A call table that notes requests instead of sending them."""

    def __init__(self) -> None:
        self.requests: list[tuple[Any, str | None]] = []

    async def request(self, params: Params[Any], *, sandbox: str | None) -> Any:
        self.requests.append((params, sandbox))


@pytest.fixture
def recorded() -> Recorded:
    return Recorded()


@pytest.fixture
def box(recorded: Recorded) -> Sandbox:
    return Sandbox(cast(CallTable, recorded), "a", Options())


async def test_each_method_calls_the_gateway_about_this_sandbox(box: Sandbox, recorded: Recorded) -> None:
    await box.info()
    await box.wake()
    await box.stop()
    await box.pause()
    await box.resume()
    await box.delete()
    assert recorded.requests == [
        (SandboxGet(id="a"), None),
        (SandboxStart(id="a"), None),
        (SandboxStop(id="a"), None),
        (SandboxPause(id="a"), None),
        (SandboxResume(id="a"), None),
        (SandboxDelete(id="a"), None),
    ]


async def test_an_update_sends_what_is_given(box: Sandbox, recorded: Recorded) -> None:
    await box.update(env={"A": None}, labels={"x": "1"}, timeout=5.0)
    await box.update(keep_alive=False, idle_timeout=7.0)
    assert recorded.requests == [
        (SandboxUpdate(id="a", env={"A": None}, labels={"x": "1"}, timeout=5.0), None),
        (SandboxUpdate(id="a", keep_alive=False, idle_timeout=7.0), None),
    ]
