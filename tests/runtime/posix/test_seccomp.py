"""The filters, tried with real system calls."""

import os

import pytest

from hawse_runtime.posix.seccomp import FOLDER, system_call_filters
from scripts import seccomp
from tests.support.outer import run_python

# Each prints the error of one call, or 0.
CALL = """
import ctypes, errno, os, sys
from hawse_runtime.posix import linux
from hawse_runtime.posix.seccomp import system_call_filters
linux.forbid_new_privileges()
for filter_ in system_call_filters():
    linux.filter_system_calls(filter_)
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    return ctypes.get_errno() if libc.syscall(number, *map(ctypes.c_ulong, arguments)) < 0 else 0
"""


def errors(*lines: str) -> list[str]:
    """Return the name of the error of each call."""
    program = CALL + "\n".join(f"number = {line}\nprint(errno.errorcode.get(number, number))" for line in lines)
    run = run_python("-c", program)
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


x86_64 = pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are specific to x86_64")


@x86_64
def test_calls_that_lead_out_of_a_sandbox_are_refused() -> None:
    refused = {
        "io_uring_setup": 425, "userfaultfd": 323, "bpf": 321, "perf_event_open": 298, "keyctl": 250, "add_key": 248,
        "request_key": 249, "open_by_handle_at": 304, "name_to_handle_at": 303, "kcmp": 312, "unshare": 272,
        "setns": 308, "mount": 165, "umount2": 166, "pivot_root": 155, "move_mount": 429, "fsopen": 430,
        "open_tree": 428, "init_module": 175, "kexec_load": 246, "syslog": 103, "quotactl": 179, "pidfd_getfd": 438,
    }  # fmt: skip
    found = errors(*(f"call({number}, 0, 0, 0, 0, 0)" for number in refused.values()))
    assert dict(zip(refused, found, strict=True)) == dict.fromkeys(refused, "EPERM")


@x86_64
def test_calls_that_are_not_known_and_those_of_another_abi_do_not_exist() -> None:
    assert errors("call(435, 0, 0)", "call(1000)", "call(0x40000000 + 39)") == ["ENOSYS"] * 3


@x86_64
def test_new_namespaces_and_children_of_the_parent_are_refused() -> None:
    flags = (0x10000000, 0x20000, 0x20000000, 0x40000000, 0x2000000, 0x4000000, 0x8000000, 0x8000)
    assert errors(*(f"call(56, {flag | 17}, 0, 0, 0, 0)" for flag in flags)) == ["EPERM"] * len(flags)


@x86_64
def test_sockets_of_few_families_can_be_made() -> None:
    families = {"UNIX": 1, "INET": 2, "INET6": 10, "NETLINK": 16}
    assert errors(*(f"call(41, {family}, 2, 0)" for family in families.values())) == ["0"] * 4
    others = [0, 3, 9, 17, 31, 38, 40, 44, (1 << 32) + 17]
    assert errors(*(f"call(41, {family}, 2, 0)" for family in others)) == ["EAFNOSUPPORT"] * len(others)
    assert errors("call(41, 16, 3, 15)", "call(41, 16, 3, 4)") == ["EAFNOSUPPORT"] * 2  # other protocols of netlink


@x86_64
def test_a_terminal_takes_no_input_from_a_program() -> None:
    """TIOCSTI and TIOCLINUX, also with upper bits that the kernel ignores (CVE-2019-10063)."""
    requests = (0x5412, 0x541C, (1 << 32) + 0x5412)
    assert errors(*(f"call(16, 0, {request}, 0)" for request in requests)) == ["EPERM"] * 3
    assert errors("call(16, 0, 0x5413, 0)") != ["EPERM"]  # TIOCGWINSZ


def test_programs_run_under_the_filter() -> None:
    program = (
        CALL + "import subprocess; print(subprocess.run(['sh', '-c', 'echo $(uname) | cat'], text=True).returncode)"
    )
    run = run_python("-c", program)
    assert run.stdout.split() == ["Linux", "0"], run.stderr


@pytest.mark.parametrize("machine", list(seccomp.ARCHITECTURES))
def test_there_are_two_filters_of_whole_instructions_for_each_architecture(machine: str) -> None:
    filters = system_call_filters(machine)
    assert len(filters) == 2
    assert all(filter_ and len(filter_) % 8 == 0 for filter_ in filters)


def test_there_is_none_for_an_unknown_architecture() -> None:
    assert system_call_filters("m68k") == []


def test_the_files_are_those_that_the_script_writes() -> None:
    for machine, architecture in seccomp.ARCHITECTURES.items():
        for name, build in seccomp.FILTERS.items():
            assert (FOLDER / f"{machine}.{name}.bpf").read_bytes() == build(architecture), f"{machine} {name}"


def test_no_call_is_both_allowed_and_refused() -> None:
    assert not set(seccomp.ALLOWED) & set(seccomp.REFUSED)
