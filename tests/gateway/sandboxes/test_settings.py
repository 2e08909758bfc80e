import pytest

from hawse_gateway.core.settings import SettingsError
from hawse_gateway.sandboxes.settings import CapacitySettings, SandboxSettings


def test_a_quota_of_zero_is_refused() -> None:
    with pytest.raises(SettingsError, match="--quota"):
        SandboxSettings(quota=0).check()


def test_limits_of_code_contexts_are_checked() -> None:
    SandboxSettings(max_contexts=1, code_pool=["size=1", "bash:size=0"]).check()
    with pytest.raises(SettingsError, match="--max-contexts"):
        SandboxSettings(max_contexts=0).check()
    with pytest.raises(SettingsError, match="--code-pool 'many': expected"):
        SandboxSettings(code_pool=["many"]).check()


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(SettingsError, match="--max-sandboxes"):
        CapacitySettings(max_sandboxes=0).check()
    with pytest.raises(SettingsError, match="--pool"):
        SandboxSettings(pool=-1).check()
    with pytest.raises(SettingsError, match="--idle-timeout"):
        SandboxSettings(idle_timeout=0).check()
    with pytest.raises(SettingsError, match="--start-timeout"):
        SandboxSettings(start_timeout=0).check()
