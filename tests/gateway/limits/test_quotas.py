"""The operator's limits: their syntax, their subjects, and their counts."""

import pytest

from hawse.wire import HawseError, Principal
from hawse_gateway.limits.quotas import HeldLimit, Quotas

USER = Principal(id="ann", name="", kind="user", rights=("view",))
GUEST = Principal(id="link-1", name="Bob", kind="guest", rights=("view",))
OWNER = Principal(id="owner", name="", kind="owner", rights=("*",))
HERE = "192.0.2.1:1"


def test_texts_are_parsed_and_replace_defaults() -> None:
    quotas = Quotas.parse(["link:bytes=2M", "user:calls=7"], {("user", "calls"): 1, ("link", "calls"): 2})
    assert quotas.number("link", "bytes") == 2 << 20
    assert Quotas.parse(["user:storage=3G"]).number("user", "storage") == 3 << 30
    assert Quotas.parse(["user:mounts=3"]).number("user", "mounts") == 3
    assert (quotas.number("user", "calls"), quotas.number("link", "calls")) == (7, 2)
    assert quotas.number("address", "connections") is None


@pytest.mark.parametrize(
    "text",
    [
        *("calls=1", "user:calls", "user:calls=-1", "user:calls=0", "user:calls=1K", "nobody:calls=1", "user:files=1"),
        *("link:sandboxes=1", "address:sandboxes=1", "link:backups=1", "user:bytes=4095", "user:calls=1.5"),
        *("link:storage=1G", "user:storage=0", "link:mounts=1", "address:mounts=1", "user:mounts=1K"),
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Quotas.parse([text])


def test_a_repeated_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="is set twice"):
        Quotas.parse(["user:calls=1", "user:calls=2"])


def test_a_caller_counts_for_itself_and_for_its_address() -> None:
    quotas = Quotas.parse(["user:connections=1", "link:connections=2", "address:connections=3"])
    assert quotas.subjects("connections", USER, HERE) == [("user", "ann", 1), ("address", "192.0.2.1", 3)]
    assert quotas.subjects("connections", GUEST, "[2001:db8::1:2]:9") == [
        ("link", "link-1", 2),
        ("address", "2001:db8::/64", 3),
    ]
    assert quotas.subjects("terminals", USER, HERE) == []
    assert quotas.subjects("connections", OWNER, HERE) == []
    assert quotas.subjects("connections", USER, "") == []


def test_a_held_place_counts_until_it_is_released() -> None:
    limit = HeldLimit(Quotas.parse(["user:connections=1", "address:connections=2"]), "connections")
    with limit.hold(USER, HERE):
        with pytest.raises(HawseError, match=r"the user 'ann' has 1 connections, which is the limit") as caught:
            limit.check(USER, "198.51.100.1:1")
        assert (caught.value.code, caught.value.details) == ("limit_exceeded", None)
        with limit.hold(GUEST, HERE), pytest.raises(HawseError, match=r"the address '192\.0\.2\.1' has 2"):
            limit.check(GUEST, HERE)
        for _ in range(9):
            limit.check(OWNER, HERE)
    with limit.hold(USER, HERE):
        pass


def test_holdings_of_other_gateways_count() -> None:
    limit = HeldLimit(Quotas.parse(["user:connections=2"]), "connections")
    changes = list[str]()
    limit.on_held = lambda: changes.append("")
    limit.others = {("user", "ann"): 1}
    with limit.hold(USER, HERE):
        assert limit.held == {("user", "ann"): 1}
        with pytest.raises(HawseError, match=r"the user 'ann' has 2 connections, which is the limit"):
            limit.check(USER, HERE)
    assert len(changes) == 3, "at the beginning, at the check and at the end"
    limit.check(OWNER, HERE)
    assert len(changes) == 3, "nothing is to be compared for callers without a limit"
    assert (limit.limited, HeldLimit().limited) == (True, False)
