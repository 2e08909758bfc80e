"""The gateway's own call on a link: it ends with the result, an error, or the link."""

import asyncio
from pathlib import Path

import pytest

from hawse.api.runtime import RuntimeConfigure
from hawse.link.stream_link import StreamLink
from hawse.wire import Call, Error, HawseError, Result
from hawse.wire.messages import to_raw
from hawse_gateway.upstream import sandbox_link
from hawse_gateway.upstream.gateway_call import GatewayCall
from hawse_gateway.upstream.links import Links
from tests.support.gateway import FakeRuntime, FakeSandboxes


class Configured(FakeRuntime):
    """Notes its configurations, and answers as `answer` says."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.answer = "result"

    def _call(self, link: StreamLink, call: Call) -> None:
        if call.method != "runtime.configure":
            super()._call(link, call)
        elif self.answer == "result":
            link.connection.send_result(call.ch)
        elif self.answer == "lost":
            link.abort()
        elif self.answer != "silence":
            link.connection.send_error(call.ch, HawseError(self.answer))


class WithConfiguration(FakeSandboxes):
    async def configuration(self, sandbox: str) -> RuntimeConfigure:  # type: ignore[override]
        return RuntimeConfigure(revision=7, env={"A": "1"})


async def test_the_first_call_on_a_link_is_its_configuration(tmp_path: Path) -> None:
    async with Configured(tmp_path / "s") as runtime, asyncio.TaskGroup() as tasks:
        table = Links(WithConfiguration(runtime.path), tasks)
        link = table.get("local")
        link.open(call := GatewayCall(RuntimeConfigure(revision=8)))
        await call.done
        assert [bytes(seen.params) for seen in runtime.seen] == [
            b'{"revision":7,"env":{"A":"1"}}',
            b'{"revision":8}',
        ]
        await table.configure("local")
        assert len(runtime.seen) == 3
        await table.configure("unknown")  # there is no link to it
        table.stop()


@pytest.mark.parametrize("answer", ["unavailable", "lost"])
async def test_a_runtime_that_refuses_its_configuration_gets_no_other_call(tmp_path: Path, answer: str) -> None:
    async with Configured(tmp_path / "s") as runtime, asyncio.TaskGroup() as tasks:
        runtime.answer = answer
        table = Links(WithConfiguration(runtime.path), tasks)
        table.get("local").open(call := GatewayCall(RuntimeConfigure(revision=8)))
        with pytest.raises(HawseError, match="unavailable"):
            await call.done
        assert len(runtime.seen) == 1 + len(sandbox_link.RETRY_DELAYS)
        table.stop()


async def test_a_runtime_of_an_earlier_version_is_used_without_a_configuration(tmp_path: Path) -> None:
    async with Configured(tmp_path / "s") as runtime, asyncio.TaskGroup() as tasks:
        runtime.answer = "unknown_method"
        table = Links(WithConfiguration(runtime.path), tasks)
        link = table.get("local")
        link.open(call := GatewayCall(RuntimeConfigure(revision=8)))
        with pytest.raises(HawseError, match="unknown_method"):
            await call.done  # it was sent
        assert link.ready
        table.stop()


async def test_a_call_is_settled_once() -> None:
    call = GatewayCall(RuntimeConfigure(revision=1))
    call.receive_message(Result(ch=1, value=to_raw({})))
    call.receive_message(Error.from_exception(HawseError("internal"), 1))
    assert call.done.result() is None
