"""The inner sandbox, entered by a program in an outer one, and looked at from both sides."""

import errno
import json
from pathlib import Path
from typing import Any

from tests.support.outer import run_python

START = """
import json, os, shlex, signal, sys, threading, time
from pathlib import Path
from hawse_runtime.posix import linux
from hawse_runtime.posix.proc import PROC, list_proc, read_proc
from hawse_runtime.posix.inner_sandbox import InnerOptions, enter
linux.deny_dumps()
private = os.open("/run/hawse", os.O_PATH | os.O_DIRECTORY)
inner = enter(InnerOptions(covered=Path("/run/hawse"), network=NETWORK, shared_user=SHARED))
def run(command):
    read, write = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, write, 1), (os.POSIX_SPAWN_DUP2, write, 2)]
    start = lambda: os.posix_spawn("/bin/sh", ["sh", "-c", command], {"PATH": os.defpath}, file_actions=actions)
    pid = inner.thread.run(start)
    os.close(write)
    output = open(read).read()
    _, status = os.waitpid(pid, 0)
    return output.strip()
"""


def inside(program: str, *, network: bool = True, shared_user: bool = False) -> Any:
    """Run a program that sets `answer` in the runtime's place, and return the answer."""
    start = START.replace("NETWORK", str(network)).replace("SHARED", str(shared_user))
    code = start + program + "\nprint(json.dumps(answer))"
    run = run_python("-c", code)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_programs_see_their_own_processes_only() -> None:
    answer = inside('answer = [run("echo $$; ls -d /proc/[0-9]*"), len(list_proc())]')
    own, *seen = answer[0].split()
    assert seen[0] == "/proc/1"
    assert f"/proc/{own}" in seen
    assert len(seen) <= 3


def test_the_runtime_sees_and_ends_programs_by_its_own_numbers() -> None:
    program = """
read, write = os.pipe()
waited, _ = os.pipe()  # nothing is written to it, so `read` waits
actions = [(os.POSIX_SPAWN_DUP2, waited, 0), (os.POSIX_SPAWN_DUP2, write, 1)]
start = lambda: os.posix_spawn("/bin/sh", ["sh", "-c", "echo; read line"], {}, file_actions=actions)
pid = inner.thread.run(start)
os.read(read, 1)  # it runs, so its name is known
name = read_proc(f"{pid}/comm").decode().strip()
os.kill(pid, signal.SIGKILL)
answer = [name, os.waitpid(pid, 0)[1]]
"""
    assert inside(program) == ["sh", 9]


def test_no_program_can_signal_trace_or_read_the_first_process() -> None:
    program = """
answer = [run(command) for command in (
    "kill -KILL 1; kill -STOP 1; kill -TERM 1; kill -HUP 1; grep State /proc/1/status",
    "cat /proc/1/environ", "cat /proc/1/mem", "ls -l /proc/1/cwd", "cat /proc/1/syscall",
)]
"""
    state, *reads = inside(program)
    assert state.split()[1] == "S"
    assert all("denied" in read or "not permitted" in read for read in reads), reads


def test_the_private_directory_is_covered_for_programs_and_for_paths_of_the_runtime() -> None:
    program = """
fd = os.open("secret", os.O_RDONLY, dir_fd=private)
answer = [run("ls -A /run/hawse; touch /run/hawse/x"), os.listdir("/run/hawse"), os.read(fd, 100).decode()]
"""
    listed, own, content = inside(program)
    assert listed == "touch: cannot touch '/run/hawse/x': Read-only file system"
    assert own == []
    assert content == "journal"


def test_paths_of_the_runtime_do_not_lead_to_its_own_processes() -> None:
    """A symbolic link to /proc/self/fd in the workspace must not reach what the runtime has open."""
    program = """
answer = [os.path.exists(path) for path in ("/proc/self", f"/proc/self/fd/{private}", "/proc/1", "/proc/thread-self")]
"""
    assert inside(program) == [False, False, True, False]


def test_programs_and_the_runtime_have_no_capabilities() -> None:
    program = """
answer = [run("grep -E 'Cap|NoNew|Seccomp:' /proc/self/status"), read_proc("self/status").decode()]
"""
    program_, runtime = inside(program)
    assert program_.split()[1::2] == ["0000000000000000"] * 5 + ["1", "2"]
    assert "CapEff:\t0000000000000000" in runtime
    assert "CapPrm:\t0000000000000000" in runtime


def test_nothing_of_the_machine_below_proc_can_be_written() -> None:
    program = """
look = '''
import os, stat
for folder, _, names in os.walk("/proc"):
    if folder.split("/")[2:3] and folder.split("/")[2].isdigit():
        continue
    for path in (os.path.join(folder, name) for name in names):
        if stat.S_ISREG(os.lstat(path).st_mode) and os.access(path, os.W_OK):
            print(path)
'''
answer = run(f"python3 -c '{look}'")
"""
    found = inside(program)
    assert found == ""
    hidden = inside('answer = run("wc -c /proc/kcore /proc/keys /proc/timer_list; ls -A /proc/acpi")')
    assert "0 total" in hidden


def test_without_a_network_programs_have_no_interface_that_is_up() -> None:
    connect = "python3 -c 'import socket; socket.create_connection((\\\"127.0.0.1\\\", 1), 5)' 2>&1 | tail -1"
    assert "Connection refused" in inside(f'answer = run("{connect}")')
    assert "Network is unreachable" in inside(f'answer = run("{connect}")', network=False)


def test_orphans_are_reaped() -> None:
    program = """
run("for n in 1 2 3 4 5; do (sleep 0.01 &); done")
def states():
    return [run(f"cat /proc/{pid}/stat 2>/dev/null") for pid in run("ls /proc").split() if pid.isdigit()]
end = time.monotonic() + 20
while any(state.split()[2:3] == ["Z"] or "(sleep)" in state for state in states()) and time.monotonic() < end:
    pass
answer = [state.split()[1] for state in states() if "(sleep)" in state or state.split()[2:3] == ["Z"]]
"""
    assert inside(program) == []


def test_all_programs_end_with_the_first_process_and_it_ends_with_its_input() -> None:
    program = """
import select
start = lambda: os.posix_spawn("/bin/sleep", ["sleep", "60"], {})
pid = inner.thread.run(start)
os.close(inner.stdin)
killed = os.waitpid(pid, 0)[1]
poll = select.poll()
poll.register(inner.init, select.POLLIN)
answer = [bool(poll.poll(20000)), killed]
"""
    assert inside(program) == [True, 9]


def test_a_runtime_that_started_threads_cannot_enter() -> None:
    code = (
        START.replace("NETWORK", "True")
        .replace("SHARED", "False")
        .replace("inner = enter", "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\ninner = enter")
    )
    run = run_python("-c", code)
    assert "single-threaded" in run.stderr


def test_without_the_capabilities_the_refused_step_is_reported() -> None:
    run = run_python("-c", START.replace("NETWORK", "True").replace("SHARED", "False"), capabilities=False)
    assert "unshare: Operation not permitted" in run.stderr


def test_new_threads_and_processes_of_the_runtime_stay_outside() -> None:
    program = """
thread = threading.Thread(target=lambda: None); thread.start(); thread.join()
child = os.fork()
if child == 0:
    os._exit(int(os.readlink("self", dir_fd=PROC)) == os.getpid())
answer = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""
    assert inside(program) == 1


def test_a_sandbox_has_a_quarter_of_the_ptys_of_the_machine() -> None:
    take = (
        "import os\nn = 0\ntry:\n while os.open('/dev/ptmx', os.O_RDWR): n += 1\nexcept OSError as e: print(n, e.errno)"
    )
    program = f"""
own = os.openpty()  # as a runtime does; it counts
answer = [run("exec python3 -c " + shlex.quote({take!r})), os.ttyname(own[1])]
"""
    of_all, reserved = (int(Path(f"/proc/sys/kernel/pty/{name}").read_text()) for name in ("max", "reserve"))
    taken, name = inside(program)
    count, number = map(int, taken.split())
    if number != errno.EMFILE:  # it has as few descriptors as that
        assert (count + 1, number) == (min(1100, (of_all - reserved) // 4), errno.ENOSPC)
    assert count < min(1100, (of_all - reserved) // 4)
    assert name.startswith("/dev/pts/")


def test_sandboxes_of_one_user_have_a_quarter_of_its_inotify_each() -> None:
    program = """
names = ("instances", "watches")
read = lambda name: int(Path(f"/proc/sys/user/max_inotify_{name}").read_text())
limits = [read(name) for name in names]
for name in names:
    run(f"echo 1000000 > /proc/sys/user/max_inotify_{name}")
answer = [limits, [read(name) for name in names]]
"""
    host = [int(Path(f"/proc/sys/fs/inotify/max_user_{name}").read_text()) for name in ("instances", "watches")]
    limits, later = inside(program, shared_user=True)
    assert limits == later == [number // 4 for number in host]
    assert inside(program)[0] != limits
