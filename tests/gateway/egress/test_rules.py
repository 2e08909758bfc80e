"""Rules of a policy."""

import pytest
from hypothesis import given, strategies as st

from hawse.api.egress import EgressPolicy
from hawse_gateway.egress.addresses import normalized
from hawse_gateway.egress.rules import Rule, Rules


def rules(*allow: str, deny: tuple[str, ...] = ()) -> Rules:
    return Rules(EgressPolicy(allow=list(allow), deny=list(deny)))


def test_without_a_rule_everything_is_refused() -> None:
    assert rules().refuse_connection("example.org", 443) == "rule"
    assert rules().refuse_request("example.org", 443, "GET") == "rule"


def test_a_rule_without_a_port_is_about_80_and_443() -> None:
    decide = rules("example.org").refuse_request
    assert [decide("example.org", port, "GET") for port in (80, 443, 22)] == [None, None, "rule"]


def test_a_rule_of_deny_without_a_port_is_about_every_port() -> None:
    decide = rules("*:*", deny=("example.org", "POST up.example.org", "one.example.org:443")).refuse_request
    assert [decide("example.org", port, "GET") for port in (80, 443, 8443)] == ["rule"] * 3
    assert decide("up.example.org", 8443, "POST") == "method"
    assert [decide("one.example.org", port, "GET") for port in (443, 8443)] == ["rule", None]


def test_an_address_is_denied_in_each_of_its_forms() -> None:
    decide = rules("*", deny=("1.2.3.4", "[2606:4700::1111]"))
    for host in ("1.2.3.4", "[::ffff:1.2.3.4]", "[::FFFF:102:304]", "[2606:4700:0:0::1111]"):
        assert decide.refuse_connection(normalized(host), 443) == "rule"


def test_a_port_or_every_port_can_be_given() -> None:
    assert rules("example.org:8443").refuse_connection("example.org", 8443) is None
    assert rules("example.org:8443").refuse_connection("example.org", 443) == "rule"
    assert rules("example.org:*").refuse_connection("example.org", 22) is None


def test_a_wildcard_is_about_names_below_a_name_and_not_about_the_name() -> None:
    decide = rules("*.example.org").refuse_connection
    assert decide("a.example.org", 443) is None
    assert decide("a.b.example.org", 443) is None
    for other in ("example.org", "notexample.org", "example.org.evil.test", "a.example.organic"):
        assert decide(other, 443) == "rule"


def test_a_star_is_about_every_host() -> None:
    assert rules("*").refuse_connection("anything.test", 80) is None


def test_a_rule_of_deny_decides_first() -> None:
    decide = rules("*.example.org", deny=("bad.example.org", "POST,PUT up.example.org"))
    assert decide.refuse_connection("bad.example.org", 443) == "rule"
    assert decide.refuse_connection("up.example.org", 443) is None
    assert decide.refuse_request("up.example.org", 443, "PUT") == "method"
    assert decide.refuse_request("up.example.org", 443, "GET") is None


def test_a_rule_with_methods_allows_these_only() -> None:
    decide = rules("GET,HEAD example.org").refuse_request
    assert [decide("example.org", 443, method) for method in ("GET", "HEAD", "POST")] == [None, None, "method"]


@pytest.mark.parametrize("method", ["CONNECT", "TRACE", "TRACK"])
def test_methods_that_reflect_or_tunnel_are_never_allowed(method: str) -> None:
    assert rules("*:*").refuse_request("example.org", 443, method) == "method"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("[2606::1]:8080", Rule("2606::1", frozenset((8080,)))),
        ("[2606::1]", Rule("2606::1")),
        ("EXAMPLE.org.", Rule("example.org")),
        ("GET *", Rule("*", methods=frozenset(("GET",)))),
    ],
)
def test_forms_of_a_rule(text: str, rule: Rule) -> None:
    assert Rule.parse(text) == rule


BAD = [
    *("", " example.org", "get example.org", "http://example.org", "a b", "example.org:", "example.org:00", "**"),
    *("example.org/path", "example.org\n", "*example.org", "GET,", "GET  a", "[::1", "user@example.org", "ä.test"),
]


@pytest.mark.parametrize("text", BAD)
def test_another_form_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ValueError, match="is not a rule such as"):
        rules(text)


@pytest.mark.parametrize("text", ["127.1", "a..b", "example.org:0", "example.org:70000", "*.1.2.3.4.5", "2130706433"])
def test_a_rule_that_can_never_be_about_a_host_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        rules(text)


@given(st.text(max_size=60))
def test_any_text_is_a_rule_or_a_value_error(text: str) -> None:
    try:
        Rule.parse(text)
    except ValueError:
        pass
