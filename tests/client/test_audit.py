"""`client.audit`, with a real gateway."""

from pathlib import Path

from hawse_gateway.audit.files import AuditFiles
from tests.support.gateway import TOKEN, FakeRuntime, Gateway
from tests.support.sync_bridge import Connect


async def test_entries_are_listed_over_several_pages(tmp_path: Path, connect: Connect) -> None:
    async with (
        FakeRuntime(tmp_path / "runtime.sock") as runtime,
        Gateway(runtime, audit=AuditFiles(tmp_path / "audit")) as gateway,
        connect(gateway.url, token=TOKEN) as owner,
    ):
        for number in range(5):
            await owner.sandbox().call("answer", {"id": str(number)})
        found = await owner.audit.list(method="answer")
        assert [one.on["id"] for one in found] == ["4", "3", "2", "1", "0"]
        assert [one.on["id"] for one in await owner.audit.list(method="answer", limit=2)] == ["4", "3"]
        newer = await owner.audit.list(method="answer", after=found[3].position)
        assert newer == found[:3]
