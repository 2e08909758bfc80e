"""Separates user code from the runtime within the provider's sandbox (docs/decisions/0085).

The runtime stays in the outer PID namespace, where programs cannot see or signal it. Programs run in an inner PID
namespace. Both see the same files, with two exceptions:

- /proc shows the inner PID namespace; the runtime reads the outer one through `hawse_runtime.posix.proc`;
- an empty directory hides the runtime's private files, which the runtime opens relative to a descriptor.

A single thread starts all programs. It has no capabilities, but it has a system call filter, its own session keyring,
and the cgroups passed by the provider. Programs inherit all of these.
"""

import os
import signal
from pathlib import Path
from typing import Final

import msgspec

from hawse_runtime.posix import linux
from hawse_runtime.posix.seccomp import system_call_filters
from hawse_runtime.posix.spawn_thread import SpawnThread

# The first process in the inner PID namespace. It waits for EOF on its stdin, a pipe from the runtime. It ignores
# SIGCHLD, so that the kernel reaps the orphans that it adopts; a shell would install its own handler.
INIT: Final = ("/bin/cat", "cat")
# Paths in /proc that are shared by all PID namespaces. They are hidden or read-only, as in Docker containers.
HIDDEN: Final = (
    *("/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats"),
    *("/proc/sched_debug", "/proc/scsi", "/proc/timer_list", "/proc/timer_stats"),
)
READ_ONLY: Final = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/pressure", "/proc/sys", "/proc/sysrq-trigger")
# Some kernel resources are shared by all sandboxes, or by all of a user's sandboxes. Each sandbox gets a quarter.
SHARE: Final = 4
TERMINALS_MAX: Final = 1100  # maximum number of PTYs per sandbox; enough for 1,024 terminals and some programs
PTY: Final = Path("/proc/sys/kernel/pty")
INOTIFY: Final = ("instances", "watches")
REPORT_SIZE: Final = 4096  # maximum size in bytes of the error message if the first process can't be started


class InnerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options for separating programs from the runtime.

    Attributes:
        covered: The directory to hide from programs; None hides nothing.
        network: Whether programs share the runtime's network namespace. If not, they have no network interface.
        cgroups: Descriptors of cgroup files. A thread joins a cgroup by writing "0" to its file.
        shared_user: Whether other sandboxes run as the same host user and share its inotify limits.
    """

    covered: Path | None = None
    network: bool = True
    cgroups: tuple[int, ...] = ()
    shared_user: bool = False


class InnerSandbox(msgspec.Struct, frozen=True):
    """An inner sandbox that has been created.

    Attributes:
        thread: The thread that starts programs inside.
        init: A pidfd for the first process in the inner PID namespace. It becomes readable once all programs have
            exited.
        stdin: A descriptor. Closing it ends the first process and, with it, all programs.
    """

    thread: SpawnThread
    init: int
    stdin: int


def enter(options: InnerOptions) -> InnerSandbox:
    """Create the inner sandbox, then drop the capabilities needed to do so.

    Afterwards, the process resolves paths the same way its programs do.

    Raises:
        OSError: The kernel refused a step, or the process already has several threads. The process must exit.
    """
    if not linux.is_single_threaded():
        raise OSError("only a single-threaded process can enter an inner sandbox")
    linux.unshare(linux.CLONE_NEWNS)
    linux.mount("none", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
    if options.covered is not None:
        _cover(str(options.covered))
    _bound_terminals()
    if options.shared_user:
        _bound_inotify()
    pid, stdin = _start_init()
    init = os.pidfd_open(pid)
    filters = system_call_filters()

    def prepare() -> None:
        linux.unshare(linux.CLONE_FS)
        linux.setns(init, linux.CLONE_NEWPID)
        if not options.network:
            linux.unshare(linux.CLONE_NEWNET)
        for fd in options.cgroups:
            os.write(fd, b"0")
        linux.new_session_keyring()
        linux.drop_capabilities()
        linux.forbid_new_privileges()
        for filter_ in filters:
            linux.filter_system_calls(filter_)

    thread = SpawnThread(prepare)
    for fd in options.cgroups:
        os.close(fd)
    linux.drop_capabilities()
    return InnerSandbox(thread, init, stdin)


def _bound_terminals() -> None:
    """Mount a PTY file system with a limit, so that one sandbox can't use up all PTYs."""
    try:
        free = _number(PTY / "max") - _number(PTY / "reserve")  # the kernel reserves some PTYs for the host
    except (OSError, ValueError):  # /proc/sys is not mounted
        free = TERMINALS_MAX * SHARE
    count = max(1, min(TERMINALS_MAX, free // SHARE))
    options = f"newinstance,ptmxmode=0666,mode=0620,max={count}"
    linux.mount("devpts", "/dev/pts", "devpts", linux.MS_NOSUID | linux.MS_NOEXEC, options)


def _bound_inotify() -> None:
    """Limit the number of inotify instances and watches in this user namespace. Raises `OSError`."""
    for name in INOTIFY:
        of_user = _number(Path(f"/proc/sys/fs/inotify/max_user_{name}"))
        Path(f"/proc/sys/user/max_inotify_{name}").write_text(str(max(1, of_user // SHARE)))


def _number(path: Path) -> int:
    return int(path.read_text())


def _start_init() -> tuple[int, int]:
    """Start the first process in a new PID namespace. Return its pid and a descriptor that ends it when closed."""
    report, reporter = os.pipe()
    theirs, ours = os.pipe()
    child = os.fork()
    if child == 0:
        _in_child(reporter, theirs)
    os.close(reporter)
    os.close(theirs)
    os.waitpid(child, 0)
    with open(report, "rb") as file:
        answer = file.read(REPORT_SIZE).decode(errors="replace")
    pid, _, error = answer.partition(" ")
    if error or not pid.isdigit():
        raise OSError(f"cannot start the first process of the inner PID namespace: {error or answer}")
    return int(pid), ours


def _in_child(reporter: int, stdin: int) -> None:
    """Create the namespace, start its first process, report the pid or an error, and exit."""
    try:
        linux.unshare(linux.CLONE_NEWPID)
        first = os.fork()
        if first:
            os.write(reporter, b"%d " % first)
            os._exit(0)
        _become_init(stdin)
    except BaseException as error:
        os.write(reporter, str(error).encode())
    os._exit(1)


def _become_init(stdin: int) -> None:
    linux.mount("proc", "/proc", "proc", linux.SEALED)
    for path in HIDDEN:
        if os.path.exists(path):
            _cover(path)
    for path in READ_ONLY:
        if os.path.exists(path):
            linux.mount(path, path, flags=linux.MS_BIND | linux.MS_REC)
            linux.mount("none", path, flags=linux.MS_REMOUNT | linux.MS_BIND | linux.MS_RDONLY | linux.SEALED)
    os.dup2(stdin, 0)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    # Allow dumps before execve(2). Otherwise, execve would close the report pipe before allowing dumps, and the runtime
    # would try to enter this process's namespace too early (EPERM). No program that could read this memory is running
    # yet.
    linux.allow_dumps()
    # Keep this process's capabilities, so that programs, which have none, can neither trace it nor read its memory.
    os.execve(INIT[0], INIT[1:], {})


def _cover(path: str) -> None:
    """Hide a directory behind an empty read-only file system, or a file behind the null device."""
    if os.path.isdir(path):
        linux.mount("tmpfs", path, "tmpfs", linux.MS_RDONLY | linux.SEALED, "size=4k,mode=0555")
    else:
        linux.mount("/dev/null", path, flags=linux.MS_BIND)
