"""Which secrets a sandbox gets, and when it does not get them any more."""

from typing import Any

import pytest

from hawse.api.egress import EgressPolicy
from hawse.wire import HawseError, Principal
from hawse_gateway.auth.principals import OWNER
from hawse_gateway.egress.settings import EgressSettings, SecretSettings
from hawse_gateway.providers.base import SandboxSpec
from hawse_gateway.sandboxes.records import SandboxRecord
from hawse_gateway.sandboxes.secret_grants import OPERATOR, SecretGrants
from hawse_gateway.sandboxes.templates import Template, Templates
from hawse_gateway.store.clock import Clock

ANN = Principal(id="ann", name="", kind="user", rights=("operate/~",))
POLICY = EgressPolicy(allow=["api.test"], secrets=["api"])


def grants(users: list[str], *, template: EgressPolicy | None = None, secret: bool = True) -> SecretGrants:
    table = SecretSettings(hosts=["api.test"], header="A", env="PATH", users=users)
    templates = Templates({} if template is None else {"t": Template(network="filtered", egress=template)})
    return SecretGrants(EgressSettings(secrets={"api": table} if secret else {}), templates)


def record(**known: Any) -> SandboxRecord:
    now = Clock().now()
    spec = SandboxSpec(network="filtered", egress=POLICY)
    return SandboxRecord(
        id="a", unit="a", provider="p", spec=spec, wanted="running", generation="g", created=now, **known
    )


def test_a_secret_is_allowed_for_a_reason() -> None:
    assert grants(["ann"]).check(POLICY, ANN, None) == {"api": "ann"}
    assert grants([]).check(POLICY, OWNER, None) == {"api": OPERATOR}
    assert grants([], template=POLICY).check(POLICY, ANN, "t") == {}
    with pytest.raises(HawseError, match="no secret 'api' that you can use"):
        grants(["bob"]).check(POLICY, ANN, None)


@pytest.mark.parametrize(
    ("now", "known", "expected"),
    [
        (grants(["ann"]), {"grants": {"api": "ann"}}, True),
        (grants(["*"]), {"grants": {"api": "ann"}}, True),
        (grants(["bob"]), {"grants": {"api": "ann"}}, False),
        (grants([]), {"grants": {"api": OPERATOR}}, True),
        (grants([], secret=False), {"grants": {"api": OPERATOR}}, False),
        (grants([], template=POLICY), {"template": "t", "owner": "ann"}, True),
        (grants([], template=EgressPolicy(allow=["api.test"])), {"template": "t", "owner": "ann"}, False),
        (grants([]), {"template": "t", "owner": "ann"}, False),
        (grants(["ann"]), {"owner": "ann"}, True),  # a row of an earlier version
        (grants(["bob"]), {"owner": "ann"}, False),
    ],
)
def test_a_secret_is_withheld_when_its_reason_is_gone(now: SecretGrants, known: dict[str, Any], expected: bool) -> None:
    kept = POLICY if expected else EgressPolicy(allow=["api.test"])
    assert now.effective(record(**known)) == kept
    assert now.spec(record(**known)).egress == kept
