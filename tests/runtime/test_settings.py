"""The settings and their defaults."""

from pathlib import Path

import pytest

from hawse_runtime.settings import RuntimeLimits, RuntimeSettings


def test_settings_and_limits_cannot_change_while_a_runtime_uses_them(tmp_path: Path) -> None:
    settings = RuntimeSettings(workspace=tmp_path)
    with pytest.raises(AttributeError):
        settings.quota = 1  # type: ignore[misc]
    with pytest.raises(AttributeError):
        settings.limits.journals.total = 1  # type: ignore[misc]


def test_by_default_ended_processes_are_kept_for_a_day() -> None:
    assert (RuntimeLimits().processes.count, RuntimeLimits().processes.age) == (256, 86_400.0)
