"""During an upgrade, a gateway serves sandboxes whose runtimes are older."""

import shutil
from pathlib import Path

import pytest

import hawse
from tests.support.stack import Stack, post

PACKAGE = Path(hawse.__file__).parent
DECLARATION = "class TerminalCreate(Params[TerminalCreateResult], kw_only=True):"


@pytest.fixture
def later_release(tmp_path: Path) -> Path:
    """A directory with the package `hawse` of a later release: `terminal.create` has one more parameter."""
    package = tmp_path / "release" / "hawse"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    terminals = package / "api" / "terminals.py"
    head, tail = terminals.read_text().split("    argv: Argv | None = None\n", 1)
    assert DECLARATION in head
    terminals.write_text(f"{head}    later: str | None = None\n    argv: Argv | None = None\n{tail}")
    return package.parent


async def test_a_runtime_ignores_a_parameter_of_a_later_gateway_which_refuses_unknown_ones(
    tmp_path: Path, later_release: Path
) -> None:
    under = ("env", f"--chdir={later_release}")  # `python -m` imports from there; runtimes don't
    async with Stack(tmp_path / "state", under=under) as stack:
        create = "/v1/sandboxes/local/terminal.create"
        assert await post(stack, create, {"id": "a", "argv": ["cat"], "later": "x"}) == (200, None)
        assert await post(stack, create, {"id": "b", "argv": ["cat"], "latter": "x"}) == (400, "invalid_params")


async def test_a_gateway_refuses_parameters_that_it_does_not_know(tmp_path: Path) -> None:
    async with Stack(tmp_path / "state") as stack:
        create = "/v1/sandboxes/local/terminal.create"
        assert await post(stack, create, {"id": "a", "argv": ["cat"], "later": "x"}) == (400, "invalid_params")
        assert not stack.runtimes(), "the refused call started the sandbox"
