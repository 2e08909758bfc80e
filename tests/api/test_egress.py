"""The bounds of a policy. The form of its rules is checked by the gateway."""

import msgspec
import pytest

from hawse.api.egress import EgressPolicy


@pytest.mark.parametrize(
    "policy",
    [{"deny": ["a.test"] * 257}, {"allow": ["a" * 401]}, {"allow": [""]}, {"secrets": ["a"] * 33}, {"secrets": ["/"]}],
)
def test_the_size_of_a_policy_is_limited(policy: dict[str, list[str]]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(policy, EgressPolicy)


def test_a_policy_allows_nothing_by_itself() -> None:
    assert EgressPolicy() == EgressPolicy(allow=[], deny=[], secrets=[])
