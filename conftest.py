"""Settings for all tests: tests/ and e2e/."""

import re
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Keep the compiled tests also where PYTHONDONTWRITEBYTECODE is set: rewriting their `assert` statements is half of the
# time that each process of pytest-xdist needs to collect them. Programs that the tests start inherit the variable.
sys.dont_write_bytecode = False

pytest_plugins = ("tests.support.isolation",)

# A loaded machine draws examples slowly; that is not a defect of a test.
settings.register_profile("hawse", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("hawse")


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory as pytest's own `tmp_path`, with a shorter name: Unix sockets are in it (at most 107 bytes)."""
    name = re.sub(r"\W", "_", request.node.name.removeprefix("test_"))
    return tmp_path_factory.mktemp(name[:10])


class FailuresAtOnce:
    """Print the name of a failed test when it fails. The summary with the reasons comes only at the end of the run."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal is not None:
            terminal.ensure_newline()
            terminal.write_line(f"FAILED {report.nodeid} ({report.when}, after {report.duration:.1f} s)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the tests with the longest time limits first, so that no process of pytest-xdist ends long after others."""
    items.sort(key=_time_limit, reverse=True)


def _time_limit(item: pytest.Item) -> float:
    """The seconds of the marker `timeout`; 0 without it."""
    marker = item.get_closest_marker("timeout")
    return float(marker.args[0]) if marker is not None else 0.0


def pytest_configure(config: pytest.Config) -> None:
    # A shell ignores SIGINT in what it runs in the background, and that is inherited: Ctrl-C would reach no program.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.pluginmanager.register(FailuresAtOnce(config))
