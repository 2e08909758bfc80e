from pathlib import Path

import pytest

from hawse_gateway.providers.base import ProviderError
from hawse_gateway.providers.joined.provider import JOINED
from hawse_gateway.providers.methods import ImageMethods
from hawse_gateway.sandboxes.egress_methods import EgressMethods
from hawse_gateway.sandboxes.feature import SANDBOX_METHODS, SANDBOXES
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.methods import SandboxMethods
from hawse_gateway.upstream.links import Links
from tests.support.composed import composed, contributed


def test_sandboxes_have_the_providers_of_the_settings(tmp_path: Path) -> None:
    assert list(composed(SANDBOXES, tmp_path).part(Sandboxes).providers) == ["local", JOINED]
    with pytest.raises(ProviderError, match="--provider none"):
        composed(SANDBOXES, tmp_path, provider="none")


def test_sandboxes_networks_and_images_have_methods(tmp_path: Path) -> None:
    assert {SandboxMethods, EgressMethods, ImageMethods} <= contributed(composed(SANDBOX_METHODS, tmp_path))


async def test_links_and_sandboxes_run_together(tmp_path: Path) -> None:
    composition = composed(SANDBOXES, tmp_path)
    async with composition.started():
        assert [info.id for info in await composition.part(Sandboxes).list()] == ["local"]
        assert composition.part(Links).ready() == []
