"""Separate user code from the runtime within the provider's sandbox (docs/decisions/0085).

The runtime stays in the outer PID namespace, where programs cannot address it. Programs run in an inner PID namespace.
Both see the same files, except that

- /proc shows the inner PID namespace; the runtime reads its own through `hawse_runtime.posix.proc`;
- the directory of the runtime's own files is covered by an empty one; the runtime reads it through a descriptor.

All programs are started by one thread, which has no capabilities, a system-call filter, its own session keyring and, if
the provider passed one, a cgroup. Programs inherit all of these.
"""

import os
import signal
from pathlib import Path
from typing import Final

import msgspec

from hawse_runtime.posix import linux
from hawse_runtime.posix.seccomp import system_call_filters
from hawse_runtime.posix.spawn_thread import SpawnThread

# The first process of the inner PID namespace: it waits for the end of its stdin, whose other end the runtime holds. It
# ignores SIGCHLD, so the kernel reaps the orphans that it adopts. (A shell cannot do this: it handles SIGCHLD itself.)
INIT: Final = ("/bin/cat", "cat")
# Paths below /proc that do not belong to a PID namespace: hidden or read-only, as in Docker's containers.
HIDDEN: Final = (
    *("/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats"),
    *("/proc/sched_debug", "/proc/scsi", "/proc/timer_list", "/proc/timer_stats"),
)
READ_ONLY: Final = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/pressure", "/proc/sys", "/proc/sysrq-trigger")
# A sandbox gets a quarter of the kernel resources that are shared by all sandboxes, or by one user's sandboxes.
SHARE: Final = 4
TERMINALS_MAX: Final = 1100  # PTYs of a sandbox: for 1,024 terminals and some programs
PTY: Final = Path("/proc/sys/kernel/pty")
INOTIFY: Final = ("instances", "watches")
REPORT_SIZE: Final = 4096  # bytes of the error message if the first process does not start


class InnerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How programs are separated.

    Attributes:
        covered: The directory to hide from programs, if any.
        network: Whether programs share the runtime's network namespace. Otherwise they have no network interface.
        cgroups: Descriptors of cgroup files; writing "0" moves the writing thread into the cgroup.
        shared_user: Whether other sandboxes have the same user on the host, and share its inotify limits.
    """

    covered: Path | None = None
    network: bool = True
    cgroups: tuple[int, ...] = ()
    shared_user: bool = False


class InnerSandbox(msgspec.Struct, frozen=True):
    """A created inner sandbox.

    Attributes:
        thread: Starts programs inside.
        init: A pidfd of the inner PID namespace's first process; readable when it has ended, and with it all programs.
        stdin: A descriptor; closing it ends that process.
    """

    thread: SpawnThread
    init: int
    stdin: int


def enter(options: InnerOptions) -> InnerSandbox:
    """Create the inner sandbox, and drop the capabilities required for that.

    Afterwards, this process resolves paths like its programs do.

    Raises:
        OSError: The kernel refused a step, or this process already has several threads. The process must exit.
    """
    if not linux.is_single_threaded():
        raise OSError("an inner sandbox can be entered by a single-threaded process only")
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
    """Mount a limited number of PTYs, so that other sandboxes get some, too."""
    try:
        free = _number(PTY / "max") - _number(PTY / "reserve")  # the reserve is for the host
    except (OSError, ValueError):  # the file system with the kernel's settings is not mounted
        free = TERMINALS_MAX * SHARE
    count = max(1, min(TERMINALS_MAX, free // SHARE))
    options = f"newinstance,ptmxmode=0666,mode=0620,max={count}"
    linux.mount("devpts", "/dev/pts", "devpts", linux.MS_NOSUID | linux.MS_NOEXEC, options)


def _bound_inotify() -> None:
    """Limit the instances and watches of this user namespace. Raises `OSError`."""
    for name in INOTIFY:
        of_user = _number(Path(f"/proc/sys/fs/inotify/max_user_{name}"))
        Path(f"/proc/sys/user/max_inotify_{name}").write_text(str(max(1, of_user // SHARE)))


def _number(path: Path) -> int:
    return int(path.read_text())


def _start_init() -> tuple[int, int]:
    """Start the first process of a new PID namespace; return its pid and a descriptor that ends it when closed."""
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
        raise OSError(f"the first process of the inner PID namespace was not started: {error or answer}")
    return int(pid), ours


def _in_child(reporter: int, stdin: int) -> None:
    """Create the namespace and its first process, whose parent exits. Report its pid, or an error."""
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
    # execve(2) closes the report's pipe before it allows dumps, and until then the thread that starts programs cannot
    # enter this process's namespace (EPERM). No program that could read this memory is running yet.
    linux.allow_dumps()
    # It keeps its capabilities, so that programs without them can neither trace it nor read its memory.
    os.execve(INIT[0], INIT[1:], {})


def _cover(path: str) -> None:
    """Mount an empty read-only file system over a directory, or the null device over a file."""
    if os.path.isdir(path):
        linux.mount("tmpfs", path, "tmpfs", linux.MS_RDONLY | linux.SEALED, "size=4k,mode=0555")
    else:
        linux.mount("/dev/null", path, flags=linux.MS_BIND)
