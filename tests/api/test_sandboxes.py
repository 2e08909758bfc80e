"""The parameters and values of `sandbox.*` and `image.*`."""

import msgspec
import pytest

from hawse.api.sandboxes import ImageRemove, SandboxCreate, SandboxInfo, SandboxListResult


def test_unknown_fields_of_a_sandbox_are_left_out() -> None:
    shown = msgspec.json.encode(SandboxListResult(sandboxes=[SandboxInfo(id="local", state="stopped")]))
    assert shown == b'{"sandboxes":[{"id":"local","state":"stopped"}]}'


def test_sandbox_info_has_the_fields_of_the_specification() -> None:
    shown = msgspec.json.encode(SandboxInfo(id="local", state="running", isolation="bubblewrap"))
    assert shown == b'{"id":"local","state":"running","isolation":"bubblewrap"}'


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
