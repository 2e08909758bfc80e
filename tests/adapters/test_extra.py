"""The error of importing an adapter without its framework."""

import importlib
import sys

import pytest

from hawse.adapters.extra import extra


@pytest.mark.parametrize(
    ("adapter", "module", "name"),
    [
        ("openai_agents", "agents", "openai-agents"),
        ("pydantic_ai", "pydantic_ai", "pydantic-ai"),
        ("deepagents", "deepagents.backends.protocol", "deepagents"),
    ],
)
def test_the_error_of_a_missing_framework_names_the_extra(
    adapter: str, module: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    monkeypatch.delitem(sys.modules, f"hawse.adapters.{adapter}", raising=False)
    with pytest.raises(ModuleNotFoundError) as caught:
        importlib.import_module(f"hawse.adapters.{adapter}")
    assert str(caught.value).endswith(f"; it is part of the extra {name}: pip install 'hawse[{name}]'")


def test_other_errors_are_unchanged() -> None:
    with pytest.raises(ImportError, match="cannot import name"), extra("x"):
        from sys import nothing_of_this_name  # type: ignore[attr-defined]  # noqa: F401
    with extra("x"):
        pass
