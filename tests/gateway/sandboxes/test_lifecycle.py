import asyncio

import pytest

from hawse.api.sandboxes import SandboxCreate
from hawse.wire import HawseError
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from tests.support.providers import Begin, ModelProvider
from tests.support.sandboxes import create


async def code_of(asked: object) -> str:
    with pytest.raises(HawseError) as caught:
        await asked  # type: ignore[misc]
    return caught.value.code


async def test_the_default_sandbox_sleeps_until_it_is_needed(sandboxes: Sandboxes, provider: ModelProvider) -> None:
    assert [(info.id, info.state) for info in await sandboxes.list()] == [("local", "sleeping")]
    assert provider.units == {}
    endpoint = await sandboxes.ensure("local")
    (info,) = list(await sandboxes.list())
    assert (info.state, provider.running) == ("running", {"local": [info.runtime]})
    assert endpoint is not None
    assert endpoint.token == f"token {info.runtime}"
    assert await sandboxes.ensure("local") == endpoint
    assert provider.count("start") == 1


async def test_concurrent_calls_start_one_runtime(sandboxes: Sandboxes, provider: ModelProvider) -> None:
    endpoints = await asyncio.gather(*(sandboxes.ensure("local") for _ in range(50)))
    assert len(set(endpoints)) == 1
    assert provider.count("start") == 1


async def test_an_unknown_sandbox_is_not_found(sandboxes: Sandboxes) -> None:
    assert await code_of(sandboxes.ensure("nope")) == "not_found"
    assert await code_of(sandboxes.get("nope")) == "not_found"
    assert await code_of(sandboxes.stop("../etc")) == "not_found"


async def test_the_next_gateway_finds_what_runs(begin: Begin, provider: ModelProvider) -> None:
    async with begin() as first:
        endpoint = await first.ensure("local")
    async with begin() as second:
        assert await second.ensure("local") == endpoint
    assert provider.count("start") == 1


async def test_a_failed_start_is_reported_cleaned_up_and_tried_again(
    sandboxes: Sandboxes, provider: ModelProvider
) -> None:
    provider.errors["start"] = HawseError("unavailable", "no disk")
    with pytest.raises(HawseError, match="no disk"):
        await sandboxes.ensure("local")
    assert provider.running == {}
    info = await sandboxes.get("local")
    assert (info.state, info.reason) == ("failed", "no disk")
    del provider.errors["start"]
    await sandboxes.ensure("local")
    assert (await sandboxes.get("local")).state == "running"
    assert provider.violations == []


async def test_a_runtime_that_has_ended_is_replaced_by_the_next_call(
    sandboxes: Sandboxes, provider: ModelProvider
) -> None:
    first = await sandboxes.ensure("local")
    provider.units["local"].running.clear()
    second = await sandboxes.ensure("local")
    assert first != second
    assert provider.violations == []


async def test_a_runtime_that_cannot_be_reached_is_ended_before_the_next_starts(
    sandboxes: Sandboxes, provider: ModelProvider
) -> None:
    await sandboxes.ensure("local")
    provider.units["local"].state = "unreachable"
    await sandboxes.ensure("local")
    assert len(provider.running["local"]) == 1
    assert provider.violations == []


async def test_a_frozen_runtime_is_not_replaced(sandboxes: Sandboxes, provider: ModelProvider) -> None:
    await sandboxes.ensure("local")
    provider.units["local"].state = "frozen"
    assert await code_of(sandboxes.ensure("local")) == "unavailable"
    assert (await sandboxes.get("local")).state == "failed"
    assert provider.count("start") == 1


async def test_a_stopped_sandbox_is_not_started_by_a_call(sandboxes: Sandboxes, provider: ModelProvider) -> None:
    await sandboxes.ensure("local")
    await sandboxes.stop("local")
    assert provider.running == {}
    assert (await sandboxes.get("local")).state == "stopped"
    with pytest.raises(HawseError, match="was stopped by a client") as caught:
        await sandboxes.ensure("local")
    assert not caught.value.retryable


async def test_a_runtime_that_does_not_end_blocks_its_sandbox_until_it_has(
    begin: Begin, provider: ModelProvider
) -> None:
    provider.errors["stop"] = HawseError("unavailable", "pid 7 does not end")
    async with begin() as first:
        await first.ensure("local")
        with pytest.raises(HawseError, match="pid 7 does not end") as caught:
            await first.stop("local")
        assert caught.value.retryable
        assert (await first.get("local")).state == "stopping"
    async with begin() as second:  # the attempts survive the gateway
        assert (await second.get("local")).state == "stopping"
        assert provider.count("start") == 1
        del provider.errors["stop"]
        provider.holds["stop"] = asyncio.Event()
        await provider.begun("stop")
        provider.holds["stop"].set()
    assert provider.violations == []


async def test_a_creation_that_is_repeated_while_its_rest_is_ended_fails_as_before(
    sandboxes: Sandboxes, provider: ModelProvider
) -> None:
    provider.errors["start"] = provider.errors["stop"] = HawseError("unavailable", "the cluster cannot be reached")
    for _ in range(2):
        with pytest.raises(HawseError, match=r"^unavailable: the cluster cannot be reached"):
            await create(sandboxes, SandboxCreate(id="a"))
    with pytest.raises(HawseError, match="cleanup_pending"):
        await create(sandboxes, SandboxCreate(id="a", env={"A": "1"}))
