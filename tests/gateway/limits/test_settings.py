from typing import Any

import pytest

from hawse_gateway.core.settings import SettingsError
from hawse_gateway.limits.settings import LimitSettings


def test_limits_of_users_links_and_addresses_are_checked() -> None:
    quotas = LimitSettings(limit=["link:bytes=2M", "link:calls=3"], calls_per_second=7).quotas()
    assert [quotas.number(*one) for one in (("link", "bytes"), ("link", "calls"), ("user", "calls"))] == [2 << 20, 3, 7]
    with pytest.raises(SettingsError, match="--limit 'user:files=1': expected WHO:WHAT=NUMBER"):
        LimitSettings(limit=["user:files=1"]).check()


@pytest.mark.parametrize("name", ["calls_per_second", "wrong_tokens"])
def test_a_limit_is_at_least_one(name: str) -> None:
    given: dict[str, Any] = {name: 1}
    LimitSettings(**given).check()
    with pytest.raises(SettingsError, match=name.replace("_", "-")):
        LimitSettings(**given | {name: 0}).check()
