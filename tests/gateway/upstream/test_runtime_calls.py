"""The gateway's own calls to a runtime."""

import asyncio
from pathlib import Path

import pytest

from hawse.link.stream_link import StreamLink
from hawse.wire import Call
from hawse_gateway.upstream import runtime_calls
from hawse_gateway.upstream.links import Links
from hawse_gateway.upstream.runtime_calls import LinkedRuntimeCalls
from tests.support.gateway import FakeRuntime, FakeSandboxes


class Asked(FakeRuntime):
    """Answers `runtime.activity` with `answer`; None: not at all."""

    answer: dict | None = None

    def _call(self, link: StreamLink, call: Call) -> None:
        if call.method == "runtime.activity" and self.answer is not None:
            link.connection.send_result(call.ch, self.answer)


async def test_a_runtime_that_is_not_idle_keeps_its_link(tmp_path: Path) -> None:
    async with Asked(tmp_path / "s") as runtime, asyncio.TaskGroup() as tasks:
        links = Links(FakeSandboxes(runtime.path), tasks)
        runtime.answer = {"idle": 3.0, "busy": [], "asleep": False}
        found = await LinkedRuntimeCalls(links).activity("local", 60.0)
        assert found is not None
        assert (found.idle, found.asleep) == (3.0, False)
        assert bytes(runtime.seen[0].params) == b'{"sleep_after":60.0}'
        assert links.get("local").ready
        links.stop()


async def test_the_link_to_a_runtime_that_goes_to_sleep_is_closed(tmp_path: Path) -> None:
    async with Asked(tmp_path / "s") as runtime, asyncio.TaskGroup() as tasks:
        links = Links(FakeSandboxes(runtime.path), tasks)
        runtime.answer = {"idle": 90.0, "busy": [], "asleep": True}
        found = await LinkedRuntimeCalls(links).activity("local", 60.0)
        assert found is not None
        assert found.asleep
        await runtime.until(lambda: not runtime.links)
        links.stop()


async def test_a_runtime_that_does_not_answer_or_answers_nonsense_is_not_known_to_be_idle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime_calls, "ANSWER_TIMEOUT", 0.05)
    async with Asked(tmp_path / "s") as runtime, asyncio.TaskGroup() as tasks:
        links = Links(FakeSandboxes(runtime.path), tasks)
        calls = LinkedRuntimeCalls(links)
        assert await calls.activity("local", 60.0) is None
        runtime.answer = {"idle": "long"}
        assert await calls.activity("local", 60.0) is None
        assert await calls.activity("unknown", 60.0) is None
        links.stop()


async def test_a_configuration_is_sent_even_without_a_link(tmp_path: Path) -> None:
    """A regression: the link of another gateway kept the old environment."""
    async with Asked(tmp_path / "s") as runtime, asyncio.TaskGroup() as tasks:
        runtime.answer = {"idle": 3.0, "busy": [], "asleep": False}
        links = Links(FakeSandboxes(runtime.path), tasks)
        await LinkedRuntimeCalls(links).configure("local")
        assert [bytes(call.params) for call in runtime.seen] == [b"{}"]
        assert links.get("local").ready, "the configuration is the first message of a link"
        links.stop()
