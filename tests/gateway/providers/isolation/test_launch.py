"""The program that gives up the superuser's identity, run as by a gateway of the superuser."""

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hawse_gateway.providers.isolation import disk_image, launch
from hawse_gateway.providers.isolation.host_user import FIRST

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only the superuser needs it")


def run(command: str, **changes: Any) -> subprocess.CompletedProcess[str]:
    plan = {"uid": FIRST, "stage": [], "disk": None, "processes": None, "argv": ["/bin/sh", "-c", command], **changes}
    return subprocess.run(
        [sys.executable, "-I", "-S", launch.__file__, json.dumps(plan)],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.defpath},
    )


def test_the_program_has_the_user_and_no_capabilities() -> None:
    done = run("id -u; id -g; id -G; grep -E '^Cap(Prm|Eff|Amb)' /proc/self/status; pwd; umask")
    assert done.stdout.split() == [
        *[str(FIRST)] * 3,
        *("CapPrm:", "0000000000000000", "CapEff:", "0000000000000000", "CapAmb:", "0000000000000000"),
        *("/", "0022"),
    ]


def test_directories_that_only_the_superuser_can_enter_are_bound_to_the_stage(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    (closed / "data").mkdir(parents=True)
    closed.chmod(0o700)
    (closed / "data" / "file").write_text("content")
    (closed / "data" / "file").chmod(0o644)
    (closed / "data").chmod(0o755)
    assert run(f"cat {closed}/data/file").returncode != 0
    done = run(f"cat {launch.STAGE}/0/file; ls {launch.STAGE}/1", stage=[str(closed / "data"), "/usr"])
    assert done.stdout.startswith("content")
    assert "libexec" in done.stdout.split()
    assert not os.path.exists(f"{launch.STAGE}/0/file")  # only there


def test_a_failed_mount_of_a_disk_is_an_error(tmp_path: Path) -> None:
    mount = shutil.which("mount", path=disk_image.SYSTEM)
    disk = [mount, str(tmp_path / "missing"), str(tmp_path)]
    done = run("echo started", stage=[str(tmp_path)], disk=disk)
    assert (done.returncode, done.stdout) == (125, "")
    assert "cannot mount" in done.stderr


def test_the_number_of_processes_of_the_user_is_limited() -> None:
    assert run("grep 'Max processes' /proc/self/limits", processes=7).stdout.split()[2:4] == ["7", "7"]
    assert resource.getrlimit(resource.RLIMIT_NPROC)[0] != 7


def test_a_failure_is_reported_and_nothing_is_started() -> None:
    done = run("echo started", stage=["/no/such/directory"])
    assert (done.returncode, done.stdout) == (125, "")
    assert "cannot start the sandbox" in done.stderr
    assert run("", argv=["/no/such/program"]).returncode == 125
