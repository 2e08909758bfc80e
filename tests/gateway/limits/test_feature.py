from pathlib import Path

from hawse_gateway.limits.calls import CallLimits
from hawse_gateway.limits.feature import LIMITS, SHARED_LIMITS
from hawse_gateway.limits.quotas import Quotas
from tests.support.composed import composed


def test_the_limits_are_those_of_the_settings(tmp_path: Path) -> None:
    composition = composed(LIMITS, tmp_path, limit=["user:tunnels=3"])
    assert composition.part(Quotas).number("user", "tunnels") == 3
    assert composition.observers == [composition.part(CallLimits)]


def test_a_gateway_with_its_own_store_shares_no_limits(tmp_path: Path) -> None:
    before = len(composed(LIMITS, tmp_path).running)
    composition = composed(SHARED_LIMITS, tmp_path)
    assert before == 0
    assert all("limits" not in str(each) for each in composition.running)
