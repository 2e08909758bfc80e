"""Records the raw output of real programs: `python -m tests.screens.record [NAME…]`, on a machine that has them.

The recordings are committed (recordings/*.raw), so that the tests run without the programs. They contain no data of the
machine: the programs run in a directory of their own, and the host name is replaced by another of the same length.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pexpect

from hawse_runtime.screen.deferred_output import unfinished
from hawse_runtime.screen.emulator.screen import Screen
from tests.screens import showpieces

HOME = Path("/tmp/hawse-rec")
RECORDINGS = Path(__file__).parent / "recordings"
SIZES = ((80, 24), (110, 36))
QUIET = 0.25  # seconds without output: the program waits for the next key
TIMEOUT = 4.0
LIMIT = 300_000

ENV = {
    "HOME": str(HOME),
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "TERM": "xterm-256color",
    "COLORTERM": "truecolor",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "PS1": "\\[\\e[1;32m\\]user@sandbox\\[\\e[0m\\]:\\[\\e[34m\\]\\w\\[\\e[0m\\]\\$ ",
    "USER": "user",
    "SHELL": "/bin/bash",
    "LS_COLORS": "di=01;34:ln=01;36:ex=01;32:*.txt=38;5;208",
    "HISTFILE": "",
    "PYTHONDONTWRITEBYTECODE": "1",
}
BASH = "bash --norc --noprofile"
UP, DOWN, RIGHT, LEFT, END, PAGE_DOWN, ESCAPE = "\x1b[A \x1b[B \x1b[C \x1b[D \x1b[F \x1b[6~ \x1b".split()
F3, F9, F10 = "\x1b[13~", "\x1b[20~", "\x1b[21~"


@dataclass(frozen=True)
class Program:
    """A command, and the keys to press, each when the program has become quiet."""

    command: str
    keys: tuple[str, ...] = ()


def showpiece(name: str) -> str:
    return f"python3 {HOME}/showpieces.py {name}"


PROGRAMS = {
    "vim": Program(
        "vim -N -u NONE -i NONE -c 'syntax on | set number hlsearch title mouse=a ttymouse=sgr t_Co=256' poem.py",
        (
            "G",
            "gg",
            "/self\r",
            "n",
            "ohello wörld 日本\x1b",
            ":split\r",
            "\x06",
            ":vsplit notes.txt\r",
            "dd",
            "u",
            "ZZ",
        ),
    ),
    "vim-left-open": Program(
        "vim -N -u NONE -i NONE -c 'syntax on | set termguicolors cursorline' poem.py", ("10j", "vjj", "p", "Rreplace")
    ),
    "less": Program("less -R -i colours.txt", (" ", " ", "b", "/line 1\r", "n", "n", "G", "g", "-S\r", RIGHT, "q")),
    "htop": Program("htop -p 1 -d 5", (DOWN, "t", "\x1bOP", "q", F9, ESCAPE, "H", "q")),
    "top": Program("top -d 0.4 -p 1,2", ("1", "z", "x", "V", "m", "h", "q", "q")),
    "tmux": Program(
        f"tmux -f tmux.conf -L hawse-rec new '{BASH}'",
        (
            "ls --color\r",
            "\x02%",
            "seq 60\r",
            '\x02"',
            "echo 日本 🙂; printf '\\033[4:3;58:5:9mcurly\\033[0m\\n'\r",
            "\x02o",
            "\x02z",
            "\x02z",
            "\x02[",
            UP,
            UP,
            "q",
            "vim -N -u NONE notes.txt\r",
            "G",
            ":q\r",
            "\x02d",
        ),
    ),
    "mc": Program("mc -u --nosubshell", (DOWN, DOWN, "\x1b3", "q", F9, RIGHT, DOWN, ESCAPE, ESCAPE, "\t", F10, "\r")),
    "nano": Program(
        "nano -I notes.txt",
        ("hello\r", "\x17line\r", "\x07", "\x18", "\x0b", "\x15", "\x03", END, "wörld 日本", "\x18", "n"),
    ),
    "dialog": Program(
        'sh -c \'dialog --title Choose --menu "One of these" 15 50 5 1 first 2 second 3 third; '
        'dialog --gauge Wait 8 40 70 </dev/null; dialog --yesno "Is it so?" 7 30\'',
        (DOWN, DOWN, "\r", RIGHT, "\r"),
    ),
    "python": Program(
        "python3 -q",
        (
            "import this\r",
            "for i in range(40): print(i, '\\033[3%dm#' % (i % 8), '\\033[0m')\r",
            "\r",
            "1 + 1\r",
            "'x' * 300\r",
            UP,
            LEFT * 5,
            "\x01",
            "\x05",
            "\x15",
            "help(len)\r",
            "q",
            "1 / 0\r",
            "exit()\r",
        ),
    ),
    "git-log": Program("git --no-pager log --color --graph --stat --decorate -p -n 12"),
    "git-log-paged": Program(
        "git -c core.pager='less -R' log --color --graph --oneline --all", (" ", " ", "/9\r", "q")
    ),
    "apt": Program(
        f"{BASH} -c 'apt-get -y -o Dpkg::Progress-Fancy=1 -o Dir::Etc::sourcelist=/dev/null -o "
        "Dir::Etc::sourceparts=/dev/null -o Dpkg::Use-Pty=0 install ./*.deb && apt-get -y -o "
        "Dpkg::Progress-Fancy=1 purge hawse-one hawse-two hawse-three'"
    ),
    "bash": Program(
        BASH,
        (
            "ls -l --color --hyperlink=always\r",
            "seq 1 30 | column\r",
            "printf '%0200d' 7",
            LEFT * 30,
            "inserted",
            "\r",
            "cat colours.txt\r",
            UP,
            "\x12se",
            "\r",
            "printf '\\033]0;my title\\007'\r",
            "ls /\t\t",
            "\x15",
            "exit\r",
        ),
    ),
    "zsh": Program(
        "zsh -f",
        (
            "PROMPT='%F{cyan}%~%f %# ' RPROMPT='%B%F{8}%T%f%b'\r",
            "autoload -U compinit && compinit -D\r",
            "ls -\t\t",
            "\x15",
            "for i in {1..20}; do\r",
            "echo $i; done\r",
            "echo 日本語 🙂 e\u0301\r",
            "exit\r",
        ),
    ),
    "man": Program("man -P 'less -R' ./hawse.1", (" ", "/option\r", "G", "q")),
    "bars": Program(showpiece("bars")),
    "images": Program(showpiece("images")),
    "table": Program(showpiece("table")),
    "test-card": Program(showpiece("card")),
}


def record(program: Program, cols: int, rows: int) -> bytes:
    """Return all output of a program. Its queries are answered by an emulator, as in the runtime."""
    child = pexpect.spawn(
        "/bin/sh", ["-c", program.command], env=ENV, cwd=HOME, dimensions=(rows, cols), timeout=TIMEOUT
    )
    child.delaybeforesend = None

    def reply(answer: bytes) -> None:
        if child.isalive():
            child.send(answer)

    screen, output, waiting = Screen(cols, rows, reply=reply), bytearray(), b""
    try:
        for keys in (None, *program.keys):
            if keys is not None and child.isalive():
                child.send(keys)
            for data in until_quiet(child, QUIET if program.keys else TIMEOUT):
                output += data
                waiting += data
                whole = len(waiting) - unfinished(waiting)
                screen.feed(waiting[:whole])
                waiting = waiting[whole:]
    finally:
        child.close(force=True)
        screen.close()
    return bytes(output)


def until_quiet(child: "pexpect.spawn[bytes]", quiet: float) -> Iterator[bytes]:
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        try:
            yield child.read_nonblocking(65536, timeout=quiet)
        except (pexpect.TIMEOUT, pexpect.EOF):
            return


def neutral(output: bytes) -> bytes:
    host = socket.gethostname().encode()
    output = re.sub(rb"(//|@)%b\b" % re.escape(host), rb"\1" + b"sandbox".ljust(len(host), b"x")[: len(host)], output)
    found = re.search(rb"/work/|/root/(?!\x00)|https?://(?!example)", output)
    if found:
        raise SystemExit(f"not neutral: {output[max(0, found.start() - 60) : found.end() + 60]!r}")
    return output[:LIMIT]


# ---- the directory that all of them run in


def furnish() -> None:
    shutil.rmtree(HOME, ignore_errors=True)
    HOME.mkdir()
    shutil.copy(showpieces.__file__, HOME / "showpieces.py")
    (HOME / "poem.py").write_text(Path(showpieces.__file__).read_text())
    (HOME / "notes.txt").write_text("".join(f"note {n}: zwölf Boxkämpfer 日本語 🙂\n" for n in range(80)))
    (HOME / "colours.txt").write_text(
        "".join(f"\x1b[{30 + n % 8};{40 + n % 5}mline {n}\x1b[0m tail\n" for n in range(200))
    )
    (HOME / "tmux.conf").write_text("set -g status-right '#[fg=red]hawse'\nset -g mouse on\nset -g set-titles on\n")
    (HOME / "hawse.1").write_text(MAN)
    for name in ("one", "two", "three"):
        package(name)
    repository()


MAN = ".TH HAWSE 1\n.SH NAME\nhawse \\- terminals\n.SH OPTIONS\n" + "".join(
    f".TP\n.B \\-\\-option\\-{n}\nThe \\fIoption\\fR number {n}, of which nobody knows what it is good for.\n"
    for n in range(60)
)


def package(name: str) -> None:
    debian = HOME / name / "DEBIAN"
    debian.mkdir(parents=True)
    control = f"Package: hawse-{name}\nVersion: 1.0\nArchitecture: all\nDescription: {name}\n"
    (debian / "control").write_text(control + "Maintainer: nobody <n@example.com>\n")
    run("dpkg-deb", "--build", name, f"hawse-{name}.deb")
    shutil.rmtree(HOME / name)


def repository() -> None:
    who = {"GIT_AUTHOR_NAME": "Someone", "GIT_AUTHOR_EMAIL": "s@example.com"}
    when = {"GIT_AUTHOR_DATE": "2024-05-06T07:08:09Z", "GIT_COMMITTER_DATE": "2024-05-06T07:08:09Z"}
    env = who | when | {name.replace("AUTHOR", "COMMITTER"): value for name, value in who.items()}
    run("git", "init", "-q", "-b", "main")
    for n in range(60):
        (HOME / "log.txt").write_text("".join(f"line {k} of {n % 7}\n" for k in range(n % 9 + 1)))
        run("git", "add", "log.txt")
        run(
            "git",
            "commit",
            "-q",
            "-m",
            f"change {n}: ünïcode 日本 and a subject that is rather long, to be wrapped {n}",
            env=env,
        )
        if n % 7 == 3:
            run("git", "branch", f"branch-{n}")


def run(*argv: str, env: dict[str, str] | None = None) -> None:
    subprocess.run(argv, cwd=HOME, env=ENV | (env or {}), check=True, stdout=subprocess.DEVNULL)


@contextmanager
def furnished() -> Iterator[None]:
    furnish()
    try:
        yield
    finally:
        subprocess.run(["tmux", "-L", "hawse-rec", "kill-server"], check=False, capture_output=True)
        shutil.rmtree(HOME, ignore_errors=True)


def main(chosen: Callable[[str], bool]) -> None:
    RECORDINGS.mkdir(exist_ok=True)
    os.umask(0o022)
    for name, program in PROGRAMS.items():
        if not chosen(name):
            continue
        for cols, rows in SIZES:
            with furnished():
                output = neutral(record(program, cols, rows))
            (RECORDINGS / f"{name}-{cols}x{rows}.raw").write_bytes(output)
            print(f"{name} {cols}x{rows}: {len(output)} bytes", flush=True)


if __name__ == "__main__":
    main(lambda name: len(sys.argv) == 1 or name in sys.argv[1:])
