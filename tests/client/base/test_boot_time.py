import re
import time

import pytest

from hawse.client.base.boot_time import boot_time
from tests.support.packages import ROOT, modules

# Modules that use the date: for what is shown to people, or compared with the time of a file or of a token of others.
DATED = {
    "gateway/hawse_gateway/audit/trail.py",
    "gateway/hawse_gateway/egress/refusals.py",
    "gateway/hawse_gateway/metrics/endpoint.py",
    "gateway/hawse_gateway/mounts/methods.py",
    "gateway/hawse_gateway/sign_on/oidc/tokens.py",
    "gateway/hawse_gateway/store/clock.py",
    "hawse/cli/commands/access.py",
    "hawse/cli/commands/audit.py",
    "hawse/cli/commands/processes.py",
    "hawse/cli/commands/sandboxes.py",
    "hawse/cli/commands/terminals.py",
    "hawse/cli/commands/top.py",
    "hawse/cli/commands/tunnels.py",
    "runtime/hawse_runtime/app.py",
    "runtime/hawse_runtime/code/context.py",
    "runtime/hawse_runtime/core/private_tempdir.py",
    "runtime/hawse_runtime/desktop/desktop.py",
    "runtime/hawse_runtime/process/process.py",
    "runtime/hawse_runtime/recording/methods.py",
    "runtime/hawse_runtime/session/session.py",
    "runtime/hawse_runtime/terminal/command_history.py",
    "runtime/hawse_runtime/terminal/question_table.py",
    "runtime/hawse_runtime/terminal/terminal.py",
    "runtime/hawse_runtime/terminal/waiting.py",
}


def test_it_does_not_depend_on_the_date(monkeypatch: pytest.MonkeyPatch) -> None:
    before = boot_time()
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert boot_time() >= before


def test_only_what_is_shown_uses_the_date() -> None:
    """Someone may set the date at any time: time limits and ages use a clock that never goes back."""
    found = {str(path.relative_to(ROOT)) for path in modules() if re.search(r"\btime\.time\b", path.read_text("utf-8"))}
    assert found <= DATED, f"modules that use the date: {sorted(found - DATED)}"
