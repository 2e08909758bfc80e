"""How squashfuse is found and run."""

import os
from pathlib import Path

import pytest

from hawse.wire import HawseError
from hawse_gateway.mounts import squashfuse


def test_it_serves_the_image_by_descriptors() -> None:
    program = squashfuse.check_available()
    assert squashfuse.arguments(program) == [program, "-f", "/proc/self/fd/103", "/dev/fd/102"]


def test_without_it_the_error_names_the_package_and_the_alternative(tmp_path: Path) -> None:
    places = (str(tmp_path), os.environ["PATH"])
    assert squashfuse.find(places[:1]) is None
    assert squashfuse.find(places) is not None
    with pytest.raises(HawseError, match="apt install squashfuse, or use the mode `copy`") as raised:
        squashfuse.check_available(places[:1])
    assert raised.value.code == "unavailable"
