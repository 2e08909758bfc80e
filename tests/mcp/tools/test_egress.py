"""An agent finds out why a request of a program was refused."""

from types import SimpleNamespace
from typing import cast, get_args

import pytest

from hawse.api.egress import EgressInfo, EgressReason, EgressRefusal
from hawse.client import Sandbox
from hawse.mcp.tool import ToolCall
from hawse.mcp.tools.egress import REASONS, EgressRefusalsTool
from tests.support.mcp_agent import OpenAgent


def call(info: EgressInfo, limit: int = 1000) -> ToolCall:
    async def get() -> EgressInfo:
        return info

    return ToolCall(box=cast(Sandbox, SimpleNamespace(egress=SimpleNamespace(get=get))), limit=limit)


async def test_refusals_are_listed_with_their_reasons_the_newest_first() -> None:
    recent = [
        EgressRefusal(time=0.0, reason="rule", host="evil.example", port=443, method="GET"),
        EgressRefusal(time=60.0, reason="protocol"),
    ]
    info = EgressInfo(id="b", filtered=True, running=True, allow=["a.example"], deny=["x.example"], recent=recent)
    answer = await EgressRefusalsTool().run(call(info))
    assert answer.text.splitlines() == [
        "Allowed: a.example",
        "Always denied: x.example",
        "Refused last:",
        f"1970-01-01 00:01:00 UTC  request to an unknown host  protocol: {REASONS['protocol']}",
        f"1970-01-01 00:00:00 UTC  GET evil.example:443  rule: {REASONS['rule']}",
    ]
    assert answer.data is not None
    assert answer.data["refusals"][1] == {
        **{"time": 0.0, "reason": "rule", "host": "evil.example", "port": 443, "method": "GET"}
    }
    one = await EgressRefusalsTool(limit=1).run(call(info))
    assert "evil.example" not in one.text


async def test_a_proxy_that_does_not_run_has_refused_nothing() -> None:
    answer = await EgressRefusalsTool().run(call(EgressInfo(id="b", filtered=True)))
    assert answer.text == "Allowed: nothing\nThe sandbox's proxy is not running.\nNothing was refused."


def test_each_reason_is_explained() -> None:
    assert set(REASONS) == set(get_args(EgressReason))


@pytest.mark.asyncio(loop_scope="session")
async def test_the_network_of_a_usual_sandbox_is_not_filtered(agent: OpenAgent) -> None:
    async with agent() as call:
        assert "is not filtered" in await call("egress_refusals")
