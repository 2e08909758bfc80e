from pathlib import Path

import pytest

from hawse.wire import HawseError
from hawse_gateway.providers.docker.engine import Engine
from tests.support import docker

LABELS = {"hawse.gateway": "test-engine"}


async def test_an_engine_that_does_not_run_is_unavailable(tmp_path: Path) -> None:
    engine = Engine(f"unix://{tmp_path}/docker.sock")
    try:
        with pytest.raises(HawseError, match="Docker Engine") as caught:
            await engine.containers(LABELS)
        assert caught.value.code == "unavailable"
    finally:
        await engine.close()


@docker.needs_engine
async def test_volumes_are_found_by_their_labels_and_removed_once() -> None:
    engine = Engine(docker.ADDRESS)
    settings = {"Name": "hawse-test-engine", "Labels": LABELS}
    try:
        await engine.create_volume(settings)
        await engine.create_volume(settings)
        assert [volume["Name"] for volume in await engine.volumes(LABELS)] == ["hawse-test-engine"]
        assert await engine.volumes({"hawse.gateway": "another"}) == []
        await engine.remove_volume("hawse-test-engine")
        await engine.remove_volume("hawse-test-engine")
        assert await engine.volumes(LABELS) == []
    finally:
        docker.clean("test-engine")
        await engine.close()


@docker.needs_engine
async def test_a_request_refused_by_the_engine_is_unavailable_with_the_reason() -> None:
    engine = Engine(docker.ADDRESS)
    try:
        with pytest.raises(HawseError, match="volume name"):
            await engine.create_volume({"Name": "not/a/name"})
    finally:
        await engine.close()
