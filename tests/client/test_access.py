"""Tokens and links through the client, and a real gateway."""

from pathlib import Path

import pytest

from hawse.wire import HawseError
from tests.support.gateway import TOKEN, FakeRuntime, Gateway
from tests.support.sync_bridge import Connect


async def test_tokens_and_links_are_created_listed_and_revoked(tmp_path: Path, connect: Connect) -> None:
    async with (
        FakeRuntime(tmp_path / "runtime.sock") as runtime,
        Gateway(runtime) as gateway,
        connect(gateway.url, token=TOKEN) as owner,
    ):
        token = await owner.tokens.create("ci", role="owner", sandboxes=["mine"], user="ci", expires_in=60)
        assert token.info in await owner.tokens.list()
        async with connect(gateway.url, token=token.token) as ci:
            link = await ci.links.create("mine", terminal="main", role="writer", name="Bob", expires_in=9)
            assert await ci.links.list() == [link.info]
            with pytest.raises(HawseError, match="forbidden"):
                await ci.links.create("local")
            await ci.links.revoke(link.info.id)
            with pytest.raises(HawseError, match="not_found"):
                await ci.links.revoke(link.info.id)
        await owner.tokens.revoke(token.info.id)
        assert token.info.id not in [one.id for one in await owner.tokens.list()]
