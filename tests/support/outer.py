"""Runs a Python program in an outer sandbox instead of a runtime, with a runtime's capabilities."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from hawse_gateway.providers.isolation import bubblewrap, host_user

HOST_UID = host_user.FIRST + 1  # the user of test sandboxes, if tests run as root


@contextmanager
def sandbox(**options: Any) -> Iterator[bubblewrap.BubblewrapSandbox]:
    """Yield an outer sandbox with temporary directories; `run_in` adds the user files."""
    with tempfile.TemporaryDirectory() as folder:
        directories = [Path(folder, name) for name in ("workspace", "private")]
        for directory in directories:
            directory.mkdir()
            if os.getuid() == 0:
                os.chown(directory, HOST_UID, HOST_UID)
        workspace, private = directories
        known: dict[str, Any] = {"network": "private", **options}
        yield bubblewrap.BubblewrapSandbox(workspace=workspace, private=private, passwd=-1, group=-1, **known)


def run_in(
    place: bubblewrap.BubblewrapSandbox, *argv: str, capabilities: bool = True, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program in an outer sandbox, and return its output.

    Args:
        place: The sandbox.
        argv: The program and its arguments.
        capabilities: Whether it gets a runtime's capabilities.
        env: The environment of bwrap; by default this process's.
    """
    bwrap = bubblewrap.find()
    assert bwrap is not None, "bwrap is not installed"
    user = bubblewrap.HostUser(uid=HOST_UID) if os.getuid() == 0 else None
    with bubblewrap.user_files() as (passwd, group):
        command = bubblewrap.command(bwrap, replace(place, passwd=passwd, group=group), argv, user)
        if not capabilities:
            command = [part.replace("--cap-add", "--cap-drop") for part in command]
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            cwd="/",
            env=env,
            pass_fds=(passwd, group),
        )


def run_python(*arguments: str, capabilities: bool = True) -> subprocess.CompletedProcess[str]:
    """Run `python ARGUMENTS` in a new outer sandbox, whose private directory contains the file `secret`."""
    with sandbox() as place:
        (place.private / "secret").write_text("journal")
        os.chmod(place.private / "secret", 0o644)
        return run_in(place, sys.executable, "-I", *arguments, capabilities=capabilities)
