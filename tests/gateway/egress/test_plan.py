"""The plan of a proxy, and the variables of programs."""

import msgspec

from hawse.api.egress import EgressPolicy
from hawse_gateway.egress.plan import (
    CERTIFICATE_VARIABLES,
    CERTIFICATES,
    EgressPlan,
    Terms,
    proxy_variables,
    trusted_certificates,
)
from hawse_gateway.egress.secrets import Secret


def test_a_plan_survives_its_encoding() -> None:
    secret = Secret(hosts=["api.test"], into="basic", name="u", value="v")
    plan = EgressPlan(folder="/f", socket="/s", terms=Terms(policy=EgressPolicy(allow=["api.test"]), secrets=[secret]))
    assert msgspec.json.decode(msgspec.json.encode(plan), type=EgressPlan) == plan


def test_programs_find_the_proxy_and_the_certificates() -> None:
    variables = proxy_variables()
    assert variables["https_proxy"] == variables["HTTP_PROXY"] == "http://127.0.0.1:3128"
    assert {variables[name] for name in CERTIFICATE_VARIABLES} == {CERTIFICATES}
    assert "127.0.0.1" in variables["NO_PROXY"]


def test_programs_trust_their_sandboxs_authority_and_the_machines() -> None:
    lines = trusted_certificates("-----BEGIN CERTIFICATE-----\nauthority\n").splitlines()
    assert lines[-2:] == [b"-----BEGIN CERTIFICATE-----", b"authority"]
