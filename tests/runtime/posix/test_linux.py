"""The system calls. Each program runs in a separate user namespace, where it has root's permissions."""

import pytest

from hawse_runtime.posix import linux
from tests.support.outer import run_python


def python(program: str) -> str:
    run = run_python("-c", f"from hawse_runtime.posix.linux import *\nimport ctypes, os, threading\n{program}")
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_a_refused_call_raises_with_its_name() -> None:
    with pytest.raises(OSError, match="setns: Bad file descriptor"):
        linux.setns(-1, linux.CLONE_NEWPID)
    with pytest.raises(OSError, match="mount /nowhere: No such file or directory"):
        linux.mount("none", "/nowhere", "tmpfs")


def test_large_blocks_stay_outside_of_the_heap_after_a_larger_one_was_freed() -> None:
    program = """
class Counts(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd a b c d e".split()]

mallinfo = ctypes.CDLL(None).mallinfo2
mallinfo.restype = Counts
keep_heap_compact()
large = bytearray(8 << 20)
del large
before = mallinfo().hblks
kept = bytearray(1 << 20)
print(mallinfo().hblks - before)
"""
    assert python(program) == "1"


def test_a_mount_in_a_namespace_of_its_own() -> None:
    program = """
unshare(CLONE_NEWNS)
mount("none", "/", flags=MS_REC | MS_PRIVATE)
mount("none", "/run/hawse", "tmpfs", MS_RDONLY, "mode=0500")
print(os.listdir("/run/hawse"), oct(os.stat("/run/hawse").st_mode))
"""
    assert python(program) == "[] 0o40500"


def test_capabilities_are_dropped_for_one_thread_and_what_it_starts() -> None:
    program = """
def caps():
    text = open(f"/proc/self/task/{threading.get_native_id()}/status").read()
    return {line.split()[1] for line in text.splitlines() if line.startswith("Cap")}
def inside():
    drop_capabilities()
    print(caps(), flush=True)
    os.waitpid(os.posix_spawn("/bin/grep", ["grep", "-c", "^Cap.*0000000000000000$", "/proc/self/status"], {}), 0)
thread = threading.Thread(target=inside); thread.start(); thread.join()
print(caps() == {"0000000000000000"})
"""
    assert python(program).split("\n") == ["{'0000000000000000'}", "5", "False"]


def test_no_new_privileges_and_a_filter_apply_to_what_a_thread_starts() -> None:
    program = """
from hawse_runtime.posix.seccomp import system_call_filters
def inside():
    forbid_new_privileges()
    for filter_ in system_call_filters():
        filter_system_calls(filter_)
    os.waitpid(os.posix_spawn("/bin/grep", ["grep", "-E", "^(NoNewPrivs|Seccomp):", "/proc/self/status"], {}), 0)
thread = threading.Thread(target=inside); thread.start(); thread.join()
print(open("/proc/self/status").read().count("Seccomp:\\t0"))
"""
    assert python(program).split() == ["NoNewPrivs:", "1", "Seccomp:", "2", "1"]


def test_an_invalid_filter_is_refused() -> None:
    program = """
forbid_new_privileges()
try:
    filter_system_calls(b"12345678")
except OSError as error:
    print(error.strerror)
"""
    assert python(program) == "seccomp: Invalid argument"


@pytest.mark.parametrize(("change", "seen"), [("deny_dumps()", "denied"), ("deny_dumps(); allow_dumps()", "read")])
def test_a_process_that_denies_dumps_hides_its_environment_from_others_of_its_user(change: str, seen: str) -> None:
    program = """
CHANGE
child = os.fork()
if child == 0:
    try:
        open(f"/proc/{os.getppid()}/environ").read()
        print("read", flush=True)
    except PermissionError:
        print("denied", flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(is_single_threaded(), new_session_keyring())
"""
    assert python(program.replace("CHANGE", change)).split() == [seen, "True", "None"]


def test_a_new_session_keyring_has_none_of_the_keys_of_the_old() -> None:
    program = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 250, "aarch64": 219}[os.uname().machine]
def keyring():
    return libc.syscall(number, 0, -3, 1)  # KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING
before = keyring()
new_session_keyring()
print(before != keyring() > 0)
"""
    assert python(program) == "True"
