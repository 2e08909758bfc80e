import pytest

from hawse.api.sandboxes import SandboxCreate
from hawse.wire import HawseError
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from tests.support.providers import ModelProvider
from tests.support.sandboxes import create


async def created(sandboxes: Sandboxes, provider: ModelProvider) -> str | None:
    info = await create(sandboxes, SandboxCreate(id="a"))
    assert await sandboxes.ensure("a") is not None
    return info.runtime


async def test_a_runtime_that_does_not_proceed_is_an_error_and_is_not_ended(
    sandboxes: Sandboxes, provider: ModelProvider
) -> None:
    await created(sandboxes, provider)
    provider.units["a"].state = "frozen"
    with pytest.raises(HawseError, match="unavailable"):
        await sandboxes.ensure("a")
    assert provider.units["a"].running
    assert (await sandboxes.get("a")).state == "failed"


async def test_a_runtime_that_has_ended_is_noticed_and_started_again(
    sandboxes: Sandboxes, provider: ModelProvider
) -> None:
    before = await created(sandboxes, provider)
    provider.units["a"].running.clear()
    assert await sandboxes.ensure("a") is not None
    assert (await sandboxes.get("a")).runtime != before


async def test_a_runtime_of_another_start_is_not_that_of_the_row(sandboxes: Sandboxes, provider: ModelProvider) -> None:
    before = await created(sandboxes, provider)
    provider.units["a"].running[:] = ["f" * 16]
    info = await sandboxes.get("a")
    assert (info.state, info.reason) == ("stopping", "a different runtime is running in its place")
    assert await sandboxes.ensure("a") is not None
    assert (await sandboxes.get("a")).runtime not in (before, "f" * 16)
