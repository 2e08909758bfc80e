"""An agent sees what is mounted in its sandbox."""

from types import SimpleNamespace
from typing import cast

from hawse.api.mounts import MountInfo
from hawse.client import Sandbox
from hawse.mcp.tool import ToolCall
from hawse.mcp.tools.mounts import MountListTool


def call(*mounts: MountInfo) -> ToolCall:
    async def found() -> list[MountInfo]:
        return [*mounts]

    return ToolCall(box=cast(Sandbox, SimpleNamespace(mounts=SimpleNamespace(list=found))))


async def test_mounts_are_listed_with_their_state() -> None:
    mounted = MountInfo(id="m-1", sandbox="s", path="data", bucket="sets", read_only=True, state="mounted")
    failed = MountInfo(
        id="m-2", sandbox="s", path="work", bucket="home", state="failed", reason="the store is away", pending=3
    )
    overlay = MountInfo(id="m-3", sandbox="s", path="x", backup="b-1", state="mounted")
    answer = await MountListTool().run(call(mounted, failed, overlay))
    assert answer.text.splitlines() == [
        "data  sets  mounted, read-only",
        "work  home  failed: the store is away, 3 files are not uploaded yet",
        "x  backup b-1  mounted",
    ]
    assert answer.data is not None
    assert [one["id"] for one in answer.data["mounts"]] == ["m-1", "m-2", "m-3"]
    assert answer.data["mounts"][0]["read_only"] is True
    assert (answer.data["mounts"][2]["backup"], answer.data["mounts"][2]["bucket"]) == ("b-1", None)


async def test_a_sandbox_without_mounts_has_none() -> None:
    assert (await MountListTool().run(call())).text == "there are none"
