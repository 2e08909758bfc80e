"""Measures how quickly and how accurately the runtime detects that a terminal's program waits for input.

`python -m bench.waiting [ROUNDS]` starts each installed program in a terminal of a runtime. It prints the reported
kind, and the milliseconds from the last output (or from the start, without output) to the report. It then watches
silent programs, which must not be reported, and measures inspections of hostile programs.
"""

import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import uvloop

from hawse_runtime.posix.spawn import name_of_pty, spawn_pty
from hawse_runtime.posix.tty_readers import find_reader
from tests.support.runtime import Client, Served

ROUNDS = 5
LIMIT = 5.0  # seconds to wait for a report
WATCH = 3.0  # seconds to watch a silent program
GOAL = 0.5  # maximum seconds until a report
ENV = {"PATH": os.environ["PATH"], "TERM": "xterm-256color"}

GETPASS = "import getpass; getpass.getpass('Passphrase: ')"
MENU = "import curses; curses.wrapper(lambda screen: (screen.addstr('menu'), screen.refresh(), screen.getch()))"


class Asking(NamedTuple):
    """A program that asks for input, and the kind that must be reported."""

    argv: list[str]
    kind: str
    latest: float = 0.0  # seconds from its start to its read, if it prints nothing before the read


PROGRAMS = {
    "read": Asking(["bash", "-c", "read -p 'Name? ' x"], "line"),
    "read without a prompt": Asking(["bash", "-c", "read x"], "line"),
    "read -s": Asking(["bash", "-c", "read -s -p 'Secret: ' x"], "secret"),
    "read -n 1": Asking(["bash", "-c", "read -n 1 -p '[y/N] ' x"], "key"),
    "read after 1 s of silence": Asking(["bash", "-c", "sleep 1; read x"], "line", 1.0),
    "read after 4 s of silence": Asking(["bash", "-c", "sleep 4; read x"], "line", 4.0),
    "dash read": Asking(["dash", "-c", "printf 'Go on? '; read x"], "line"),
    "cat": Asking(["cat"], "line"),
    "dd": Asking(["dd", "of=/dev/null", "status=none"], "line"),
    "rm -i": Asking(["sh", "-c", "touch f; rm -i f"], "line"),
    "python input": Asking(["python3", "-c", "input('Name: ')"], "line"),
    "python getpass": Asking(["python3", "-c", GETPASS], "secret"),
    "python REPL": Asking(["python3", "-q"], "key"),
    "curses menu": Asking(["python3", "-c", MENU], "key"),
    "node REPL": Asking(["node"], "key"),
    "node readline": Asking(
        ["node", "-e", "require('readline').createInterface(process.stdin, process.stdout).question('Name? ', String)"],
        "key",
    ),
    "sqlite3": Asking(["sqlite3"], "key"),
    "bc": Asking(["bc", "-q"], "key"),
    "gdb": Asking(["gdb", "-q"], "key"),
    "perl STDIN": Asking(["perl", "-e", "$|=1; print 'Name: '; <STDIN>"], "line"),
    "less": Asking(["less", "/etc/passwd"], "key"),
    "more": Asking(["more", "/etc/services"], "key"),
    "man": Asking(["man", "ls"], "key"),
    "vim": Asking(["vim", "-u", "NONE"], "key"),
    "nano": Asking(["nano"], "key"),
    "htop": Asking(["htop"], "key"),
    "fzf": Asking(["sh", "-c", "seq 9 | fzf"], "key"),
    "whiptail": Asking(["whiptail", "--yesno", "Go on?", "8", "40"], "key"),
    "dialog": Asking(["dialog", "--yesno", "Go on?", "8", "40"], "key"),
    "git add -p": Asking(["sh", "-c", "git init -q r; cd r; echo a >f; git add f; echo b >>f; git add -p"], "line"),
    "git commit": Asking(
        ["sh", "-c", "git init -q c; cd c; echo a >f; git add f; EDITOR='vim -u NONE' git commit"], "key"
    ),
    "ssh-keygen": Asking(["ssh-keygen", "-f", "k"], "secret"),
    "openssl passwd": Asking(["openssl", "passwd"], "secret"),
    "pipeline": Asking(["bash", "-c", "seq 9 | (read x </dev/tty)"], "line"),
    "pager of a pipeline": Asking(["sh", "-c", "seq 999 | less"], "key"),
}
SHELLS = {name: [name] for name in ("bash", "dash", "fish", "zsh")}
SILENT = {
    "sleep": "exec sleep 3600",
    "tail -f": "exec tail -f /etc/passwd",
    "loop": "while :; do :; done",
    "fake prompt": "printf 'Password: '; exec sleep 3600",
    "fake prompt without echo": "stty -echo; printf 'Password: '; exec sleep 3600",
    "fake key prompt": "stty raw -echo; printf '[y/N] '; exec sleep 3600",
    "toggled echo": "while :; do stty -echo; stty echo; done",
    "read of a FIFO": "mkfifo p 2>/dev/null; printf 'x? '; exec cat p",
    "server": "exec python3 -c \"import socket; socket.create_server(('127.0.0.1', 0)).accept()\"",
    "server with epoll": "exec python3 -m http.server 0",
    "node server": "exec node -e \"require('http').createServer().listen(0)\"",
    "computation": "exec python3 -c 'while True: sum(range(1000))'",
    "background read": "sh -c 'read x' & exec sleep 3600",
    "pipeline": "sleep 3600 | cat",
    "make -j": "sleep 3600 & sleep 3600 & wait",
}
HOSTILE = {
    "2,000 threads": (
        "import threading as t; t.stack_size(65536); e = t.Event()\n"
        "for _ in range(2000): t.Thread(target=e.wait).start()\nprint('here', flush=True)"
    ),
    "20,000 descriptors": (
        "import os, resource as r, time; r.setrlimit(r.RLIMIT_NOFILE, (20100, 20100))\n"
        "for _ in range(20000): os.dup(1)\nprint('here', flush=True); time.sleep(3600)"
    ),
    "epoll of 10,000": (
        "import os, select, resource as r; r.setrlimit(r.RLIMIT_NOFILE, (20100, 20100)); p, q = os.pipe()\n"
        "e = select.epoll()\nfor _ in range(10000): e.register(os.dup(p))\nprint('here', flush=True); e.poll()"
    ),
    "1,000 processes": (
        "import os, time\nfor _ in range(1000):\n    if not os.fork(): time.sleep(3600)\n"
        "print('here', flush=True); time.sleep(3600)"
    ),
}


async def ask(client: Client, asking: Asking, name: str) -> tuple[str, float]:
    """Return the reported kind, and the seconds from the last output to the report."""
    started = time.monotonic()
    await client.ask("terminal.create", id=name, argv=asking.argv, env={"GIT_AUTHOR_NAME": "a", "EMAIL": "a@b.c"})
    shell = client.attach(name, input="keys")
    waiting = client.call("terminal.wait", {"id": name, "waiting": True, "timeout": LIMIT + asking.latest})
    seen, last = 0, started + asking.latest

    def ended() -> bool:
        """Record the time of new output. Return whether the wait has ended. Called after each message."""
        nonlocal seen, last
        if len(shell.output) != seen:
            seen, last = len(shell.output), time.monotonic()
        return bool(waiting.closed)

    await client.until(ended)
    took = time.monotonic() - last
    await client.ask("terminal.kill", id=name, grace=0)
    value = waiting.value
    return (value["waiting"]["kind"] if value["event"] == "waiting" else value["event"]), took


async def watch(client: Client, argv: list[str], name: str) -> Any:
    """Return the state, after WATCH seconds, of a program that must not be reported."""
    await client.ask("terminal.create", id=name, argv=argv)
    waited = await client.ask("terminal.wait", id=name, waiting=True, timeout=WATCH)
    state = (await client.ask("terminal.get", id=name))["waiting"]
    await client.ask("terminal.kill", id=name, grace=0)
    return state if waited["event"] == "timeout" else waited["waiting"]


async def measure(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with Served(Path(folder)) as served, served.client() as client:
            await measure_programs(client, rounds)
            await measure_silence(client)
    for name, program in HOSTILE.items():
        print(f"{name:32} {look_at(program)}")


async def measure_programs(client: Client, rounds: int) -> None:
    times: list[float] = []
    right = 0
    for name, asking in PROGRAMS.items():
        if shutil.which(asking.argv[0]) is None or (len(asking.argv) > 2 and _missing(asking.argv[2])):
            print(f"{name:32} not installed")
            continue
        found = [await ask(client, asking, f"p-{len(times)}-{number}") for number in range(rounds)]
        kinds = [kind for kind, _ in found]
        right += sum(kind == asking.kind for kind in kinds)
        times += [took for _, took in found]
        mark = "" if set(kinds) == {asking.kind} else f"   expected {asking.kind}"
        print(f"{name:32} {'/'.join(sorted(set(kinds))):8} {_ms([took for _, took in found])}{mark}", flush=True)
    soon = sum(took <= GOAL for took in times)
    print(f"{len(times)} questions: {right} with the right kind, {soon} within {GOAL} s; {_ms(times)}")


async def measure_silence(client: Client) -> None:
    false = 0
    for number, (name, argv) in enumerate([(k, ["sh", "-c", v]) for k, v in SILENT.items()] + list(SHELLS.items())):
        if shutil.which(argv[0]) is None:
            continue
        state = await watch(client, argv, f"s-{number}")
        reported = state["kind"] != "no" or state["idle_shell"] is not (name in SHELLS)
        false += reported
        shown = f"{state['kind']}{' idle' if state['idle_shell'] else ''}{'   FALSE' if reported else ''}"
        print(f"{name:32} {shown}", flush=True)
    print(f"{len(SILENT) + len(SHELLS)} silent programs and shells: {false} false reports")


def look_at(program: str) -> str:
    """Return the result of inspecting a hostile program, and the milliseconds that it took."""
    pid, master = spawn_pty(["python3", "-c", program], env=ENV, cwd="/", cols=80, rows=24)
    os.set_blocking(master, True)
    os.read(master, 100)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        found = find_reader(name_of_pty(master), os.tcgetpgrp(master), pid).found
        times.append(time.perf_counter() - start)
    os.killpg(pid, 9)
    os.close(master)
    os.waitpid(pid, 0)
    return f"{found:8} {_ms(times)}"


def _missing(script: str) -> bool:
    return any(name in script and shutil.which(name) is None for name in ("fzf", "less", "git", "vim"))


def _ms(seconds: list[float]) -> str:
    return f"median {statistics.median(seconds) * 1000:.0f} ms, longest {max(seconds) * 1000:.0f} ms"


if __name__ == "__main__":
    uvloop.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
