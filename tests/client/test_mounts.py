"""Creating, listing and deleting mounts."""

from typing import Any, cast

from hawse.api.mounts import MountCreate, MountCredentials, MountDelete, MountInfo, MountList, MountListResult
from hawse.api.spec import Nothing
from hawse.client.calls.call_table import CallTable
from hawse.client.mounts import Mounts

INFO = MountInfo(id="m", sandbox="s", path="data", bucket="b")


class Recorder:
    """A call table that answers at once."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.params: list[object] = []

    async def request(self, params: object, *, sandbox: str | None) -> Any:
        assert sandbox is None
        self.params.append(params)
        return self.answer


async def test_a_mount_is_created_listed_and_deleted() -> None:
    table = Recorder(INFO)
    mounts = Mounts(cast(CallTable, table), "s")
    given = MountCredentials(access_key_id="id", secret_access_key="key")
    assert await mounts.create("b", "data", prefix="p", read_only=True, credentials=given) == INFO
    table.answer = MountListResult(mounts=[INFO])
    assert await mounts.list() == [INFO]
    table.answer = Nothing()
    await mounts.delete("m", force=True, discard=True, timeout=2)
    assert table.params == [
        MountCreate(sandbox="s", bucket="b", path="data", prefix="p", read_only=True, credentials=given),
        MountList(sandbox="s"),
        MountDelete(sandbox="s", mount="m", force=True, discard=True, timeout=2),
    ]
