"""The plan passed to a mount's process."""

import msgspec

from hawse_gateway.mounts.plan import CACHE_FD, DIRECTORY_FD, FUSE_FD, Inside, MountPlan


def test_a_plan_is_the_same_after_it_was_sent() -> None:
    inside = Inside(pid=1, user=1000, workspace="/workspace", path="ü/data")
    plan = MountPlan(id="m", action="mount", inside=inside, env={"KEY": "v"}, user=(1, 2))
    assert msgspec.json.decode(msgspec.json.encode(plan), type=MountPlan) == plan


def test_descriptors_are_different_and_above_those_that_are_in_use() -> None:
    assert len({CACHE_FD, DIRECTORY_FD, FUSE_FD}) == 3
    assert min(CACHE_FD, DIRECTORY_FD, FUSE_FD) > 20
