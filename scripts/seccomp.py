"""Write the system-call filters for user code, using libseccomp (Debian package libseccomp2).

`python -m scripts.seccomp` writes runtime/hawse_runtime/posix/filters/*.bpf. Each architecture has two filters, which
are applied together: one allows a list of calls, the other refuses some arguments of allowed calls.

Unlisted calls return ENOSYS, so that programs fall back to older calls. Calls refused on purpose return EPERM.
"""

import ctypes
import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).resolve().parent.parent / "runtime" / "hawse_runtime" / "posix" / "filters"
ARCHITECTURES: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # AUDIT_ARCH_* of linux/audit.h

# Privileged kernel interfaces, and interfaces that programs do not need and that have often allowed sandbox escapes.
REFUSED: Final = """
_sysctl acct add_key afs_syscall bpf chroot clock_adjtime clock_settime create_module delete_module fanotify_init
fanotify_mark finit_module fsconfig fsmount fsopen fspick get_kernel_syms get_mempolicy init_module io_uring_enter
io_uring_register io_uring_setup ioperm iopl kcmp kexec_file_load kexec_load keyctl lookup_dcookie mbind migrate_pages
mount mount_setattr move_mount move_pages name_to_handle_at nfsservctl open_by_handle_at open_tree perf_event_open
pidfd_getfd pivot_root process_madvise query_module quotactl quotactl_fd reboot request_key set_mempolicy
set_mempolicy_home_node setdomainname sethostname setns settimeofday swapoff swapon sysfs syslog umount2 unshare uselib
userfaultfd ustat vhangup
""".split()

ALLOWED: Final = """
accept accept4 access adjtimex alarm arch_prctl bind brk cachestat capget capset chdir chmod chown clock_getres
clock_gettime clock_nanosleep clone close close_range connect copy_file_range creat dup dup2 dup3 epoll_create
epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2 execve
execveat exit exit_group faccessat faccessat2 fadvise64 fallocate fchdir fchmod fchmodat fchmodat2 fchown fchownat
fcntl fdatasync fgetxattr flistxattr flock fork fremovexattr fsetxattr fstat fstatfs fsync ftruncate futex
futex_requeue futex_wait futex_waitv futex_wake futimesat get_robust_list get_thread_area getcpu getcwd getdents
getdents64 getegid geteuid getgid getgroups getitimer getpeername getpgid getpgrp getpid getppid getpriority getrandom
getresgid getresuid getrlimit getrusage getsid getsockname getsockopt gettid gettimeofday getuid getxattr
inotify_add_watch inotify_init inotify_init1 inotify_rm_watch io_cancel io_destroy io_getevents io_pgetevents io_setup
io_submit ioctl ioprio_get ioprio_set kill landlock_add_rule landlock_create_ruleset landlock_restrict_self lchown
lgetxattr link linkat listen listxattr llistxattr lremovexattr lseek lsetxattr lstat madvise map_shadow_stack membarrier
memfd_create memfd_secret mincore mkdir mkdirat mknod mknodat mlock mlock2 mlockall mmap modify_ldt mprotect
mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink mremap msgctl msgget msgrcv msgsnd msync munlock
munlockall munmap nanosleep newfstatat open openat openat2 pause personality pidfd_open pidfd_send_signal pipe pipe2
pkey_alloc pkey_free pkey_mprotect poll ppoll prctl pread64 preadv preadv2 prlimit64 process_mrelease process_vm_readv
process_vm_writev pselect6 ptrace pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv recvfrom recvmmsg
recvmsg remap_file_pages removexattr rename renameat renameat2 restart_syscall rmdir rseq rt_sigaction rt_sigpending
rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max
sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval
sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield seccomp select semctl semget semop
semtimedop sendfile sendmmsg sendmsg sendto set_robust_list set_thread_area set_tid_address setfsgid setfsuid setgid
setgroups setitimer setpgid setpriority setregid setresgid setresuid setreuid setrlimit setsid setsockopt setuid
setxattr shmat shmctl shmdt shmget shutdown sigaltstack signalfd signalfd4 socket socketpair splice stat statfs statx
symlink symlinkat sync sync_file_range syncfs sysinfo tee tgkill time timer_create timer_delete timer_getoverrun
timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime times tkill truncate umask uname unlink
unlinkat utime utimensat utimes vfork vmsplice wait4 waitid write writev
""".split()

# Flags of clone(2): new namespaces, and children that the runtime would have to reap (0x8000, CLONE_PARENT).
CLONE_FLAGS: Final = (0x8000, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
TERMINAL_REQUESTS: Final = (0x5412, 0x541C)  # TIOCSTI and TIOCLINUX inject input for the user (ioctl_tty(2))
AF_NETLINK: Final = 16
FAMILIES: Final = (1, 2, 10, AF_NETLINK)  # UNIX, INET, INET6, and NETLINK with protocol 0 only (NETLINK_ROUTE)

_ALLOW: Final = 0x7FFF0000
_BAD_ARCHITECTURE: Final = 2  # the attribute SCMP_FLTATR_ACT_BADARCH
_NOT_EQUAL, _EQUAL, _GREATER, _MASKED_EQUAL = 1, 4, 6, 7


class _Comparison(ctypes.Structure):
    _fields_ = (("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64))


class _Filter:
    """A libseccomp filter for one architecture."""

    def __init__(self, architecture: int, default: int) -> None:
        self._library = library = ctypes.CDLL("libseccomp.so.2")
        library.seccomp_init.restype = ctypes.c_void_p
        self._context = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(default)))
        native = library.seccomp_arch_native()
        if native & 0xFFFFFFFF != architecture:
            self._check(library.seccomp_arch_remove(self._context, native))
            self._check(library.seccomp_arch_add(self._context, ctypes.c_uint32(architecture)))
        action = ctypes.c_uint32(_errno(errno.ENOSYS))
        self._check(library.seccomp_attr_set(self._context, _BAD_ARCHITECTURE, action))

    def rule(self, action: int, name: str, *comparisons: tuple[int, int, int, int]) -> None:
        number = self._library.seccomp_syscall_resolve_name(name.encode())
        array = (_Comparison * len(comparisons))(*(_Comparison(*values) for values in comparisons))
        self._check(
            self._library.seccomp_rule_add_array(
                self._context, ctypes.c_uint32(action), number, len(comparisons), array
            )
        )

    def export(self) -> bytes:
        fd = os.memfd_create("bpf")
        try:
            self._check(self._library.seccomp_export_bpf(self._context, fd))
            return os.pread(fd, os.fstat(fd).st_size, 0)
        finally:
            os.close(fd)
            self._library.seccomp_release(self._context)

    def _check(self, result: int) -> None:
        if result != 0:
            raise OSError(-result, os.strerror(-result))


def calls(architecture: int) -> bytes:
    """Return the filter that allows listed calls."""
    filter_ = _Filter(architecture, _errno(errno.ENOSYS))
    for name in REFUSED:
        filter_.rule(_errno(errno.EPERM), name)
    for name in ALLOWED:
        filter_.rule(_ALLOW, name)
    return filter_.export()


def arguments(architecture: int) -> bytes:
    """Return the filter that refuses some arguments. The kernel ignores the upper 32 bits of most arguments."""
    filter_ = _Filter(architecture, _ALLOW)
    for request in TERMINAL_REQUESTS:
        filter_.rule(_errno(errno.EPERM), "ioctl", (1, _MASKED_EQUAL, 0xFFFFFFFF, request))
    for flag in CLONE_FLAGS:
        filter_.rule(_errno(errno.EPERM), "clone", (0, _MASKED_EQUAL, flag, flag))
    refused = _errno(errno.EAFNOSUPPORT)
    for family in range(max(FAMILIES)):
        if family not in FAMILIES:
            filter_.rule(refused, "socket", (0, _MASKED_EQUAL, 0xFFFFFFFF, family))
    filter_.rule(refused, "socket", (0, _GREATER, max(FAMILIES), 0))
    filter_.rule(refused, "socket", (0, _EQUAL, AF_NETLINK, 0), (2, _NOT_EQUAL, 0, 0))
    return filter_.export()


FILTERS: Final[dict[str, Callable[[int], bytes]]] = {"calls": calls, "arguments": arguments}


def _errno(number: int) -> int:
    return 0x00050000 | number


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for machine, architecture in ARCHITECTURES.items():
        for name, build in FILTERS.items():
            (FOLDER / f"{machine}.{name}.bpf").write_bytes(build(architecture))


if __name__ == "__main__":
    main()
