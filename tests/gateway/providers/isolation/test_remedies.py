import os
from pathlib import Path

import pytest

from hawse_gateway.providers.isolation import bubblewrap
from hawse_gateway.providers.isolation.remedies import apparmor_profile, remedy


def proc(directory: Path, **files: str) -> Path:
    for name, content in files.items():
        path = directory / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return directory


def test_a_machine_that_refuses_nothing_needs_no_remedy(tmp_path: Path) -> None:
    assert remedy(tmp_path) is None
    assert remedy(proc(tmp_path, sys__user__max_user_namespaces="96365\n", self__status="Seccomp:\t0\n")) is None


@pytest.mark.parametrize(
    ("name", "content", "command"),
    [
        ("sys__user__max_user_namespaces", "0\n", "sudo sysctl user.max_user_namespaces="),
        ("sys__kernel__unprivileged_userns_clone", "0\n", "sudo sysctl kernel.unprivileged_userns_clone=1"),
        ("sys__kernel__apparmor_restrict_unprivileged_userns", "1\n", "hawse doctor --apparmor | sudo tee"),
        ("self__status", "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n", "--security-opt seccomp=unconfined"),
        ("self__mountinfo", "9 8 0:5 /sys /proc/sys ro - proc proc rw\n", "systempaths=unconfined"),
    ],
)
def test_each_refusal_has_a_remedy(tmp_path: Path, name: str, content: str, command: str) -> None:
    assert command in str(remedy(proc(tmp_path, **{name: content})))


@pytest.mark.skipif(os.getuid() != 0, reason="the capability is needed by root only")
def test_root_without_its_capability_needs_it(tmp_path: Path) -> None:
    assert " --cap-add SYS_ADMIN;" in str(remedy(proc(tmp_path, self__status="CapEff:\t00000000a80425fb\n")))
    assert remedy(proc(tmp_path, self__status="CapEff:\t000001ffffffffff\n")) is None


def test_the_profile_names_the_bwrap_that_is_used() -> None:
    assert f'"{bubblewrap.find()}" flags=(unconfined)' in apparmor_profile()
