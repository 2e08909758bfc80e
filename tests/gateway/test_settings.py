import subprocess
import sys
from dataclasses import fields

import pytest

from hawse_gateway.core.settings import FeatureSettings, SettingsError
from hawse_gateway.settings import Settings


def test_the_settings_of_all_features_are_checked() -> None:
    Settings().check()
    for settings, option in (
        (Settings(host="0.0.0.0"), "--host"),  # the last base class
        (Settings(store="mysql://host"), "--store"),
        (Settings(log_format="xml"), "--log-format"),  # type: ignore[arg-type]  # the first base class
    ):
        with pytest.raises(SettingsError, match=option):
            settings.check()


def test_no_two_features_declare_a_setting_of_the_same_name() -> None:
    kinds = [kind for kind in Settings.__mro__ if FeatureSettings in kind.__mro__ and kind is not Settings]
    declared = [name for kind in kinds for name in vars(kind).get("__annotations__", {})]
    assert sorted(declared) == sorted(field.name for field in fields(Settings))


def test_settings_are_imported_without_the_features_and_the_packages_of_a_server() -> None:
    """`hawse serve --help` and the manual page need them, on each system."""
    code = "import sys; before = set(sys.modules); import hawse_gateway.settings; print(*set(sys.modules) - before)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = set(run.stdout.split())
    assert not imported & {"asyncio", "starlette", "uvicorn", "fcntl", "resource"}
    assert not [name for name in imported if name.endswith((".feature", ".lifecycle"))]
