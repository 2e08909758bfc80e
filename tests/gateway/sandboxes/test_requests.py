"""What a new sandbox may ask for, and how an update changes it."""

from typing import Any

import msgspec
import pytest

from hawse.api.sandboxes import ENV_MAX, SandboxCreate, SandboxLimits, SandboxPort, SandboxUpdate
from hawse.wire import HawseError
from hawse_gateway.providers.base import Capabilities
from hawse_gateway.sandboxes.records import SandboxRecord
from hawse_gateway.sandboxes.requests import Creation, changed, check_request, new_record, resolve
from hawse_gateway.sandboxes.templates import Template, Templates
from hawse_gateway.store.clock import Clock

PLAIN = Capabilities(provider="p", isolation="none", networks=("private", "host"), limits=("memory",))
NOW = Clock(wall=lambda: 1000.0, uptime=lambda: 50.0, boot="a").now()


def record(**params) -> SandboxRecord:
    asked = SandboxCreate(**params)
    return new_record(Creation(id="id", provider="p", asked=asked, params=asked), NOW, "id", 600.0)


@pytest.mark.parametrize(
    ("params", "path"),
    [
        (SandboxCreate(image="debian"), "$.image"),
        (SandboxCreate(image_command=True), "$.image_command"),
        (SandboxCreate(network="none"), "$.network"),
        (SandboxCreate(limits=SandboxLimits(cpus=1.0)), "$.limits.cpus"),
        (SandboxCreate(ports=[SandboxPort(port=80), SandboxPort(port=80)]), "$.ports"),
        (SandboxCreate(ports=[SandboxPort(port=p, token="sametoken") for p in (80, 81)]), "$.ports"),
        (SandboxCreate(ports=[SandboxPort(port=p) for p in range(1, 66)]), "$.ports"),
        (SandboxCreate(env={"A=B": ""}), "$.env"),
        (SandboxCreate(env={"": ""}), "$.env"),
        (SandboxCreate(env={"A": "\0"}), "$.env"),
        (SandboxCreate(env={"A": "x" * ENV_MAX}), "$.env"),
        (SandboxCreate(labels={str(i): "" for i in range(65)}), "$.labels"),
    ],
)
def test_what_a_provider_cannot_fulfil_is_refused_with_its_path(params: SandboxCreate, path: str) -> None:
    with pytest.raises(HawseError) as caught:
        check_request(params, PLAIN, "p")
    assert (caught.value.code, caught.value.details) == ("invalid_params", {"path": path})


def test_an_unknown_provider_is_refused() -> None:
    with pytest.raises(HawseError, match="has no provider 'q'"):
        check_request(SandboxCreate(provider="q"), None, "q")


def test_a_network_whose_packages_are_missing_is_unavailable_with_how_to_install_them() -> None:
    lacking = Capabilities(
        provider="p", isolation="bubblewrap", installable={"filtered": "pip install 'hawse[egress]'"}
    )
    with pytest.raises(HawseError, match=r"pip install 'hawse\[egress\]'") as caught:
        check_request(SandboxCreate(network="filtered"), lacking, "p")
    assert caught.value.code == "unavailable"


def test_what_the_provider_supports_is_accepted() -> None:
    params = SandboxCreate(network="private", limits=SandboxLimits(memory=1 << 30), env={"A": "1"})
    check_request(params, PLAIN, "p")


def test_the_lifetime_begins_with_the_creation() -> None:
    assert record().expires is None
    expires = record(timeout=60.0).expires
    assert expires is not None
    assert (expires.wall, expires.uptime) == (1060.0, 110.0)


def test_a_sandbox_sleeps_after_the_default_time_its_own_or_never() -> None:
    assert record().idle_timeout == 600
    assert record(idle_timeout=5.0).idle_timeout == 5
    assert record(idle_timeout=5.0, keep_alive=True).idle_timeout is None


def test_the_fingerprint_distinguishes_the_parameters() -> None:
    assert record(image="a").fingerprint == record(image="a").fingerprint
    assert record(image="a").fingerprint != record(image="b").fingerprint


def test_an_update_sets_and_removes_variables_and_labels() -> None:
    before = record(env={"A": "1", "B": "2"}, labels={"x": "1"})
    after = changed(before, SandboxUpdate(id="id", env={"A": None, "C": "3"}, labels={"x": None, "y": "2"}), NOW)
    assert after.spec.env == {"B": "2", "C": "3"}
    assert after.labels == {"y": "2"}
    assert after.generation == before.generation


def test_an_update_never_shortens_the_lifetime() -> None:
    before = record(timeout=60.0)
    assert changed(before, SandboxUpdate(id="id", timeout=10.0), NOW).expires == before.expires
    longer = changed(before, SandboxUpdate(id="id", timeout=100.0), NOW).expires
    assert longer is not None
    assert longer.wall == 1100
    for wall in (0.0, 1_000_000.0):  # someone has changed the date
        now = Clock(wall=lambda: wall, uptime=lambda: 50.0, boot="a").now()  # noqa: B023
        longer = changed(before, SandboxUpdate(id="id", timeout=100.0), now).expires
        shorter = changed(before, SandboxUpdate(id="id", timeout=10.0), now).expires
        assert longer is not None
        assert (longer.uptime, shorter) == (150.0, before.expires)
    assert changed(record(), SandboxUpdate(id="id", timeout=100.0), NOW).expires is None


def test_an_update_changes_when_it_sleeps() -> None:
    assert changed(record(), SandboxUpdate(id="id", keep_alive=True), NOW).idle_timeout is None
    assert changed(record(), SandboxUpdate(id="id", idle_timeout=7.0), NOW).idle_timeout == 7
    kept = record(keep_alive=True)
    assert changed(kept, SandboxUpdate(id="id", keep_alive=False, idle_timeout=7.0), NOW).idle_timeout == 7
    assert changed(kept, SandboxUpdate(id="id", keep_alive=False), NOW).idle_timeout == 600
    earlier = msgspec.structs.replace(kept, sleeps_after=None)
    with pytest.raises(HawseError, match="needs an `idle_timeout`"):
        changed(earlier, SandboxUpdate(id="id", keep_alive=False), NOW)


@pytest.mark.parametrize(
    ("created", "updates", "idle"),
    [
        ({"idle_timeout": 5.0, "keep_alive": True}, [{"keep_alive": False}], 5.0),
        ({"idle_timeout": 5.0}, [{"keep_alive": True}, {"keep_alive": False}], 5.0),
        ({"idle_timeout": 5.0}, [{"idle_timeout": 7.0}, {"keep_alive": True}, {"keep_alive": False}], 7.0),
        ({"idle_timeout": 5.0}, [{"idle_timeout": 7.0, "keep_alive": True}, {"keep_alive": False}], 7.0),
        ({}, [{"keep_alive": True}, {"labels": {"x": "1"}}, {"keep_alive": False}], 600.0),
        ({"idle_timeout": 5.0}, [{"keep_alive": False}], 5.0),
    ],
)
def test_a_sandbox_that_may_sleep_again_has_the_time_it_had_before(
    created: dict[str, Any], updates: list[dict[str, Any]], idle: float
) -> None:
    found = record(**created)
    for update in updates:
        found = changed(found, SandboxUpdate(id="id", **update), NOW)
    assert found.idle_timeout == idle


def test_an_update_that_makes_the_environment_too_large_is_refused() -> None:
    with pytest.raises(HawseError, match="at most"):
        changed(record(env={"A": "x" * 100}), SandboxUpdate(id="id", env={"B": "x" * ENV_MAX}), NOW)


def test_a_network_that_a_provider_does_not_support_is_refused_with_the_reason() -> None:
    capabilities = Capabilities(provider="p", isolation="kubernetes", refused={"filtered": "pods are elsewhere"})
    with pytest.raises(
        HawseError, match="does not support network 'filtered', only: host; pods are elsewhere"
    ) as caught:
        check_request(SandboxCreate(network="filtered"), capabilities, "p")
    assert (caught.value.code, caught.value.details) == ("invalid_params", {"path": "$.network"})


def test_a_repeat_of_a_creation_has_the_same_fingerprint_after_a_change_of_the_template() -> None:
    asked = SandboxCreate(id="a", template="t", env={"A": "1"})
    before, after = (
        resolve(asked, "ada", Templates({"t": Template(env={"B": value}, provider="q")}), "p") for value in "23"
    )
    assert (before.params.env, after.params.env) == ({"A": "1", "B": "2"}, {"A": "1", "B": "3"})
    assert before.fingerprint == after.fingerprint
    assert (before.id, before.provider, before.owner) == ("a", "q", "ada")


def test_a_creation_without_an_id_gets_one_and_the_default_provider() -> None:
    creation = resolve(SandboxCreate(), "ada", Templates(), "p")
    assert (creation.id[:2], creation.provider, creation.template) == ("s-", "p", None)
    assert creation.fingerprint == resolve(SandboxCreate(id=creation.id), "ada", Templates(), "p").fingerprint
