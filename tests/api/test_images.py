"""The parameters of `image.*`."""

import msgspec
import pytest

from hawse.api.images import ImageRemove
from hawse.api.sandboxes import SandboxCreate


@pytest.mark.parametrize(
    "name",
    ["debian", "debian:bookworm-slim", "registry.example.org:5000/a/b-c_d:1.2", "x@sha256:0123abcd", "sha256:0123abcd"],
)
def test_names_with_registry_tag_and_digest_are_allowed(name: str) -> None:
    assert msgspec.json.decode(msgspec.json.encode({"image": name}), type=ImageRemove).image == name


@pytest.mark.parametrize(
    "name", ["", "../containers/x", "a/../b", "a//b", "/a", "a/.b", "a?force=1", "a#b", "a b", "a%2e", "a\n", "a..b"]
)
def test_names_that_would_be_another_url_are_refused(name: str) -> None:
    for params in (ImageRemove, SandboxCreate):
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(msgspec.json.encode({"image": name}), type=params)
