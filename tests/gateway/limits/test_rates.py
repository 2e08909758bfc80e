"""Token buckets, with the test's own clock."""

import pytest

from hawse_gateway.limits.rates import RateTable, TokenBucket, network_of


def test_a_bucket_gives_its_burst_at_once_and_then_its_rate() -> None:
    bucket = TokenBucket(2.0, 3.0, 100.0)
    assert [bucket.take(100.0) for _ in range(4)] == [True, True, True, False]
    assert bucket.wait(100.0) == 0.5
    assert [bucket.take(100.5), bucket.take(100.5)] == [True, False]
    assert [bucket.take(1000.0) for _ in range(4)] == [True, True, True, False]


def test_more_than_the_burst_waits_until_the_bucket_is_full() -> None:
    bucket = TokenBucket(1.0, 2.0, 0.0)
    assert not bucket.take(0.0, 5.0)
    assert bucket.wait(0.0, 5.0) == 0.0
    assert bucket.take(0.0, 2.0)
    assert bucket.wait(0.5, 5.0) == 1.5


def test_each_name_has_its_own_bucket() -> None:
    now = 0.0
    table = RateTable(1.0, 1.0, clock=lambda: now)
    assert [table.take("a"), table.take("a"), table.take("b")] == [True, False, True]
    assert [table.wait("a"), table.wait("c")] == [1.0, 0.0]


def test_the_table_drops_the_name_that_was_not_used_for_the_longest_time() -> None:
    table = RateTable(1.0, 1.0, names=2, clock=lambda: 0.0)
    for name in ("a", "b", "a", "c"):
        table.take(name)
    assert table.wait("a") == 1.0
    assert table.wait("b") == 0.0


def test_spending_is_reported_once_when_it_is_large_enough() -> None:
    table = RateTable(1e-6, 100.0, clock=lambda: 0.0)
    reports = list[str]()
    table.on_spent = lambda: reports.append("")
    table.take("a")
    assert (reports, table.spent()) == ([], [])
    table.take("a")
    table.spend("a", 8)
    table.spend("b", 50)
    assert len(reports) == 2, "once for each name"
    assert table.spent(1) == [("a", 10.0)]
    assert table.spent() == [("b", 50.0)]
    assert table.spent() == []


def test_a_bucket_is_set_to_the_remainder_at_all_gateways() -> None:
    table = RateTable(1.0, 10.0, clock=lambda: 0.0)
    table.on_spent = lambda: None
    table.spend("a", 2)
    assert table.spent() == [("a", 2.0)]
    table.take("a")  # after the report
    table.correct("a", -3.0)
    assert (table.debt("a"), table.take("a")) == (4.0, False)
    table.correct("a", 99.0)
    assert [table.take("a") for _ in range(11)].count(True) == 9, "not more than a full one, less what was taken since"
    table.correct("unknown", 1.0)
    assert table.wait("unknown") == 0.0


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7:80", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6:80", "2001:db8:1:2::/64"),
        ("[2001:db8:1:2::9]:80", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7:80", "192.0.2.7"),
        ("?", ""),
        ("unix:", "unix"),
    ],
)
def test_a_client_is_an_address_or_a_network_of_ipv6(address: str, network: str) -> None:
    assert network_of(address) == network
