"""Probes of buckets run beside everything else, a few at a time."""

import asyncio

import msgspec

from hawse.api.mounts import MountInfo
from hawse_gateway.mounts.records import MountRecord
from hawse_gateway.mounts.source_probes import AT_ONCE, SourceProbes
from tests.support.gateway import eventually
from tests.support.waiting import TIMEOUT


def record(id: str) -> MountRecord:
    return MountRecord(info=MountInfo(id=id, sandbox="box", path="data", bucket="shared"), generation="g")


async def test_a_few_mounts_are_probed_at_a_time_and_each_by_one_probe() -> None:
    probed: list[str] = []
    answer = asyncio.Event()

    async def probe(record: MountRecord) -> None:
        probed.append(record.info.id)
        await answer.wait()

    ids = [f"m-{number}" for number in range(AT_ONCE + 3)]
    probes = SourceProbes(probe, 60.0)
    async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
        for id in ids * 2:
            probes.start(record(id), tasks)
        await eventually(lambda: len(probed) == AT_ONCE)
        for _ in range(10):
            await asyncio.sleep(0)
        assert probed == ids[:AT_ONCE]
        answer.set()
    assert probed == ids
    async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
        probes.start(record("m-0"), tasks)
    assert probed == [*ids, "m-0"]


async def test_a_mount_is_due_until_its_bucket_was_seen_and_an_overlay_never() -> None:
    async def probe(record: MountRecord) -> None: ...

    seldom, always = SourceProbes(probe, 60.0), SourceProbes(probe, 0.0)
    for probes in (seldom, always):
        assert probes.due(record("m-1"))
        probes.note_seen("m-1")
    assert not seldom.due(record("m-1"))
    assert always.due(record("m-1"))
    seldom.keep([])
    assert seldom.due(record("m-1"))
    overlay = record("m-2")
    assert not seldom.due(msgspec.structs.replace(overlay, info=msgspec.structs.replace(overlay.info, backup="b")))
