"""The policy in a row, and the proxy that has to have it."""

from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

import msgspec
import pytest

from hawse.api.egress import EgressLost, EgressPolicy, EgressRequest
from hawse.api.sandboxes import SandboxCreate
from hawse.wire import HawseError
from hawse_gateway.egress.control import Status
from hawse_gateway.egress.follower import EgressFollower
from hawse_gateway.egress.refusals import Counters
from hawse_gateway.providers.base import Capabilities
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.records import SandboxRecord
from hawse_gateway.store.sqlite import SqliteStore
from tests.support.providers import ModelProvider
from tests.support.sandboxes import create


class ModelEgress:
    """Proxies that note what they get. `errors` raises for the next change."""

    def __init__(self) -> None:
        self.follower = EgressFollower(dict)
        self.applied: list[tuple[str, EgressPolicy]] = []
        self.wanted: Mapping[str, EgressPolicy] = {}
        self.error: HawseError | None = None

    def want(self, policies: Mapping[str, EgressPolicy]) -> None:
        self.wanted = policies

    async def apply(self, unit: str, policy: EgressPolicy) -> None:
        self.applied.append((unit, policy))
        if self.error is not None:
            raise self.error

    async def status(self, unit: str) -> Status | None:
        return Status(counters=Counters(requests=3), recent=[])

    async def watch(self, unit: str, *, allowed: bool) -> AsyncGenerator[list[EgressRequest | EgressLost], None]:
        yield [EgressRequest(time=1.0, allowed=allowed, host=unit)]


class Filtered(ModelProvider):
    async def capabilities(self) -> Capabilities:
        return Capabilities(provider="model", isolation="none", networks=("private", "filtered"))


OLD, NEW = EgressPolicy(allow=["a.test"]), EgressPolicy(allow=["b.test"])


def to(policy: EgressPolicy) -> object:
    def change(record: SandboxRecord) -> SandboxRecord:
        return msgspec.structs.replace(record, spec=msgspec.structs.replace(record.spec, egress=policy))

    return change


@pytest.fixture
def provider() -> Filtered:
    made = Filtered()
    made.egress = ModelEgress()
    return made


@pytest.fixture
def sandboxes(tmp_path: Path, provider: Filtered) -> Sandboxes:
    return Sandboxes(SqliteStore(tmp_path / "s.db"), {"model": provider})


async def test_a_change_is_stored_and_sent_to_the_proxy_that_runs(sandboxes: Sandboxes, provider: Filtered) -> None:
    proxies = provider.egress
    assert isinstance(proxies, ModelEgress)
    async with sandboxes.running():
        await create(sandboxes, SandboxCreate(id="a", network="filtered", egress=OLD))
        record = await sandboxes.egress.change("a", to(NEW))  # type: ignore[arg-type]
        assert record.spec.egress == NEW
        assert proxies.applied == [("a", NEW)]
        assert (await sandboxes.get("a")).egress == NEW
        await sandboxes.sweep()
        assert proxies.wanted == {"a": NEW}
        await sandboxes.stop("a")
        await sandboxes.egress.change("a", to(OLD))  # type: ignore[arg-type]
        assert proxies.applied == [("a", NEW)]  # it gets them when it starts
        await sandboxes.start("a")
        assert provider.specs["a"].egress == OLD


async def test_a_proxy_that_was_not_changed_gets_the_policy_later(sandboxes: Sandboxes, provider: Filtered) -> None:
    proxies = provider.egress
    assert isinstance(proxies, ModelEgress)
    async with sandboxes.running():
        await create(sandboxes, SandboxCreate(id="a", network="filtered", egress=OLD))
        proxies.error = HawseError("unavailable", "no")
        with pytest.raises(HawseError, match="unavailable"):
            await sandboxes.egress.change("a", to(NEW))  # type: ignore[arg-type]
        await sandboxes.sweep()
        assert proxies.wanted == {"a": NEW}


async def test_the_proxy_is_asked_and_watched(sandboxes: Sandboxes) -> None:
    async with sandboxes.running():
        await create(sandboxes, SandboxCreate(id="a", network="filtered", egress=OLD))
        record = await sandboxes.egress.record("a")
        status = await sandboxes.egress.status(record)
        assert status is not None
        assert status.counters.requests == 3
        found = [batch async for batch in sandboxes.egress.watch(record, allowed=True)]
        assert found == [[EgressRequest(time=1.0, allowed=True, host="a")]]
        with pytest.raises(HawseError, match="not_found"):
            await sandboxes.egress.record("none")
