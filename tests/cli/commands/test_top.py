import json
import os
import signal
import subprocess
import sys

import pexpect
import pytest

from hawse.api.processes import ProcessInfo
from hawse.api.runtime import EchoHistogram, RuntimeMetricsResult
from hawse.api.terminals import TerminalInfo
from hawse.cli import main
from hawse.cli.commands.top import Look, render
from tests.support.stack import Stack


def look(at: float, cpu: float, offset: int) -> Look:
    metrics = RuntimeMetricsResult(
        started=0.0,
        cpu=cpu,
        memory=50 << 20,
        open_fds=9,
        terminals=1,
        processes=1,
        sessions=0,
        viewers=2,
        lag=0,
        lag_max=0,
        journals=0,
        snapshots=0,
        recordings=0,
        output=offset,
        reseeds=0,
        echo=EchoHistogram(counts=(0,), seconds=0.0),
    )
    terminal = TerminalInfo(
        id="main",
        instance="i",
        pid=1,
        cols=80,
        rows=24,
        argv=["sh"],
        cwd="/work\x1b[2J",
        started=0.0,
        state="running",
        start=0,
        offset=offset,
        viewers=2,
    )
    return Look(at, at, metrics, [terminal], [ProcessInfo(id="p", instance="j", pid=7, argv=["sleep", "1 2"])])


def test_rates_are_those_since_the_look_before() -> None:
    page = render(look(20.0, 3.0, 4096), look(10.0, 2.0, 2048), "box")
    assert "CPU 10.0%" in page
    assert "204 B/s" in page
    assert "sleep '1 2'" in page


def test_a_date_that_is_set_back_between_two_looks_does_not_change_the_rates() -> None:
    page = render(look(20.0, 3.0, 4096)._replace(at=-3600.0), look(10.0, 2.0, 2048), "box")
    assert "CPU 10.0%" in page
    assert "204 B/s" in page


def test_the_first_page_has_no_rates_and_escapes_control_characters() -> None:
    page = render(look(20.0, 3.0, 4096), None, "box")
    assert "CPU -" in page
    assert "\x1b" not in page


def test_rows_are_sorted() -> None:
    ages = {"c": 2.0, "a": 1.0, "b": 3.0}
    processes = [
        ProcessInfo(id=name, instance=name, pid=7, argv=["x"], started=20.0 - age) for name, age in ages.items()
    ]
    page = look(20.0, 3.0, 4096)._replace(terminals=[], processes=processes)

    def order(sort: str) -> list[str]:
        return [line[0] for line in render(page, None, "box", sort).splitlines()[-3:]]

    assert order("name") == ["a", "b", "c"]
    assert order("age") == ["b", "c", "a"]
    assert order("rate") == ["a", "b", "c"]  # all are equal


def test_keys_sort_and_quit_and_the_page_follows_the_size(gateway: Stack) -> None:
    argv = ["-m", "hawse.cli", "top", "--interval", "600"]
    top = pexpect.spawn(sys.executable, argv, dimensions=(30, 100), timeout=60, encoding="utf-8")
    try:
        top.expect_exact("\x1b[?1049h")
        top.expect_exact("PROCESS")
        top.expect_exact(": rate ")
        top.send("n")
        top.expect_exact(": name ")
        top.setwinsize(4, 100)
        top.expect(r"\x1b\[Hsandbox local[^\n]*\n[^\n]*\n[^\n]*\nsort by")  # three lines and the line of keys
        top.send("q")
        top.expect_exact("\x1b[?1049l")
        top.expect(pexpect.EOF)
        top.close()
        assert top.exitstatus == 0
    finally:
        top.close(force=True)


def test_a_signal_leaves_the_page(gateway: Stack) -> None:
    argv = ["-m", "hawse.cli", "top", "--interval", "600"]
    top = pexpect.spawn(sys.executable, argv, dimensions=(30, 100), timeout=60, encoding="utf-8")
    try:
        top.expect_exact("PROCESS")
        top.kill(signal.SIGTERM)
        top.expect_exact("\x1b[?1049l")
        top.expect(pexpect.EOF)
        top.close()
        assert top.signalstatus == signal.SIGTERM
    finally:
        top.close(force=True)


def test_a_page_needs_keys(gateway: Stack) -> None:
    master, slave = os.openpty()
    try:
        argv = [sys.executable, "-m", "hawse.cli", "top"]
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.PIPE, check=False, timeout=60
        )
        assert done.returncode == 1
        assert b"--once and --json do not need one" in done.stderr
    finally:
        os.close(master)
        os.close(slave)


def test_json_is_one_line_for_each_look(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["top", "--once"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["memory"] > 0
