import asyncio

import pytest

from tests.gateway.fakes import Gateway, Peer


async def test_a_call_reaches_the_runtime_and_its_result_comes_back(gateway: Gateway) -> None:
    async with gateway.peer() as peer:
        assert await peer.ask("answer", {"x": [1, "ü"]}) == {"x": [1, "ü"]}
