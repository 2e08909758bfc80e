"""Checks whether isolation works on this machine, by running a program in a sandbox."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hawse.api.sandboxes import Network
from hawse_gateway.providers.isolation import bubblewrap, host_user
from hawse_gateway.providers.isolation.bubblewrap import BubblewrapSandbox, HostUser

TIMEOUT: Final = 10.0  # s
CHECK: Final = (sys.executable, "-I", "-m", "hawse_runtime.posix.isolation_check", "--private", bubblewrap.PRIVATE)


@dataclass(frozen=True, kw_only=True)
class IsolationCheck:
    """The check's result.

    Attributes:
        reason: The reason why sandboxes can't be isolated. None if they can.
        seccomp: Whether system calls are filtered. Some architectures don't support this filter.
    """

    reason: str | None = None
    seccomp: bool = False


def check(bwrap: str, network: Network) -> IsolationCheck:
    """Start a sandbox the same way as for a runtime, and run a program in its inner sandbox.

    Args:
        bwrap: The path to bwrap.
        network: The network that sandboxes will use.
    """
    user = HostUser(uid=host_user.FIRST) if os.getuid() == 0 else None
    try:
        with tempfile.TemporaryDirectory(prefix="hawse-check-") as folder, bubblewrap.user_files() as (passwd, group):
            for name in ("workspace", "private"):
                os.mkdir(f"{folder}/{name}", 0o700)
                if user is not None:
                    os.chown(f"{folder}/{name}", user.uid, user.uid)
            place = BubblewrapSandbox(
                workspace=Path(folder, "workspace"),
                private=Path(folder, "private"),
                network=network,
                passwd=passwd,
                group=group,
            )
            argv = [*CHECK, *(["--no-network"] if network == "none" else []), *bubblewrap.shared_user()]
            run = subprocess.run(
                bubblewrap.command(bwrap, place, argv, user),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIMEOUT,
                check=False,
                cwd="/",
                pass_fds=(passwd, group),
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        return IsolationCheck(reason=str(error))
    if run.returncode != 0:
        return IsolationCheck(reason=run.stderr.strip() or f"bwrap ended with exit code {run.returncode}")
    return judge(run.stdout)


def judge(output: str) -> IsolationCheck:
    """Compare a program's results with the results expected in an isolated sandbox."""
    try:
        found = json.loads(output)
        wrong = [
            *(["capabilities"] if found["capabilities"] else []),
            *(["no_new_privileges"] if not found["no_new_privileges"] else []),
            *(["pids"] if found["pids"][0] != 1 else []),
            *(["uid"] if found["uid"] != bubblewrap.UID else []),
        ]
        seccomp = bool(found["seccomp"])
    except (ValueError, KeyError, IndexError, TypeError) as error:
        return IsolationCheck(reason=f"the isolation check failed: {error!r}")
    if wrong:
        return IsolationCheck(reason=f"a program in a sandbox is not isolated: {', '.join(wrong)}")
    return IsolationCheck(seccomp=seccomp)
