from pathlib import Path

from hawse_gateway.mounts.feature import MOUNTS
from hawse_gateway.mounts.methods import MountMethods, MountOptions
from tests.support.composed import composed, contributed


def test_mounts_are_prepared_before_the_first_call_of_a_sandbox(tmp_path: Path) -> None:
    composition = composed(MOUNTS, tmp_path, overlays_size=7)
    assert MountMethods in contributed(composition)
    assert len(composition.preparations) == 1
    assert composition.part(MountOptions).images_size == 7
