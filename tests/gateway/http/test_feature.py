from pathlib import Path

from starlette.middleware import Middleware

from hawse_gateway.http.feature import HTTP
from hawse_gateway.http.host_check import HostCheck
from hawse_gateway.preview.proxy import PreviewProxy
from tests.support.composed import composed, paths


def test_the_pages_have_the_addresses_that_remain(tmp_path: Path) -> None:
    found = paths(composed(HTTP, tmp_path))
    assert found[-2:] == ["/v1/{rest:path}", ""]
    assert found.count("/healthz") == 1


def test_previews_are_served_before_the_host_is_checked(tmp_path: Path) -> None:
    found: list[Middleware] = composed(HTTP, tmp_path).middleware
    classes: list[object] = [each.cls for each in found]
    assert classes.index(PreviewProxy) < classes.index(HostCheck)
