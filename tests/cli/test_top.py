import json

import pytest

from hawse.api.processes import ProcessInfo
from hawse.api.runtime import EchoHistogram, RuntimeMetricsResult
from hawse.api.terminals import TerminalInfo
from hawse.cli import main
from hawse.cli.top import Look, render
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
    return Look(at, metrics, [terminal], [ProcessInfo(id="p", instance="j", pid=7, argv=["sleep", "1 2"])])


def test_rates_are_those_since_the_look_before() -> None:
    page = render(look(20.0, 3.0, 4096), look(10.0, 2.0, 2048), "box")
    assert "CPU 10.0%" in page
    assert "204 B/s" in page
    assert "sleep '1 2'" in page


def test_the_first_page_has_no_rates_and_escapes_control_characters() -> None:
    page = render(look(20.0, 3.0, 4096), None, "box")
    assert "CPU -" in page
    assert "\x1b" not in page


def test_json_is_one_line_for_each_look(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["top", "--once"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["memory"] > 0
