"""The lines about isolation state what is enforced, and what programs can do without isolation."""

import os

import pytest

from hawse.api.sandboxes import SandboxInfo
from hawse_gateway.providers.base import Capabilities
from hawse_gateway.providers.isolation_lines import isolation_lines


@pytest.mark.parametrize(("uid", "who"), [(0, "root, which may do everything on this machine"), (1000, "this user")])
def test_without_isolation_they_state_whose_processes_programs_are(
    monkeypatch: pytest.MonkeyPatch, uid: int, who: str
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: uid)
    capabilities = Capabilities(provider="local", isolation="none", isolation_reason="requested")
    (line,) = isolation_lines(capabilities, [])
    consequence = f"their programs run as {who}, and can read the owner's token"
    assert line == f"! sandboxes are NOT isolated (requested): {consequence}"


def test_with_isolation_they_list_what_is_enforced_and_name_sandboxes_with_another() -> None:
    capabilities = Capabilities(provider="local", isolation="bubblewrap", networks=("private",), limits=("memory",))
    running = SandboxInfo(id="old", state="running", provider="local", created=0.0, isolation="none")
    first, enforced, missing, other = isolation_lines(capabilities, [running])
    assert first.startswith("  sandboxes are isolated by bubblewrap; their programs reach only each other")
    assert enforced == "  enforced: limits of memory"
    assert missing.startswith("  not enforced: a separate user for each sandbox, ")
    assert other == "! sandbox old is already running, with isolation: none"
