"""Settings for all tests: tests/ and e2e/."""

import faulthandler
import gc
import importlib
import os
import re
import signal
import sys
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from hatch_build import outdated
from hawse.build import BUILD

# Until the tests are collected: what is loaded stays, and searching it for garbage takes a quarter of the time.
gc.disable()

# Keep the compiled tests also where PYTHONDONTWRITEBYTECODE is set: rewriting their `assert` statements is half of the
# time that each process of pytest-xdist needs to collect them. Programs that the tests start inherit the variable.
sys.dont_write_bytecode = False

GRACE = 30.0  # seconds that a test gets to end by itself after its time limit

pytest_plugins = ("tests.support.isolation",)

# A loaded machine draws examples slowly; that is not a defect of a test.
settings.register_profile("hawse", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("hawse")


@pytest.fixture(scope="session", autouse=True)
def restore_signal_handlers() -> None:
    """Restore signals that `nohup` or a shell's `&` set to be ignored. Programs that tests start would inherit that."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


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


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    import_share(session.config)
    result = yield
    gc.freeze()  # the garbage collector need not visit the tests each time
    gc.enable()
    return result


def import_share(config: pytest.Config) -> None:
    """In a process of pytest-xdist, import a share of the test files first, so that each file is compiled only once.

    All processes collect all files in the same order. Without compiled files of an earlier run, each of them would
    rewrite the `assert` statements of all files.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return
    number, count = os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw"), os.environ["PYTEST_XDIST_WORKER_COUNT"]
    names = [
        ".".join(file.relative_to(config.rootpath).with_suffix("").parts) for file in sorted(list_test_files(config))
    ]
    share = [name for name in names[int(number) :: int(count)] if name not in sys.modules]
    pytest.register_assert_rewrite(*share)
    for name in share:
        with suppress(Exception, pytest.skip.Exception):  # raised again, and reported, when pytest collects the file
            importlib.import_module(name)


def list_test_files(config: pytest.Config) -> Iterator[Path]:
    """The test files in the directories of the command line."""
    ignored = {config.invocation_params.dir / path for path in config.getoption("ignore") or ()}
    for argument in config.args:
        for folder, folders, files in os.walk(config.invocation_params.dir / argument):
            folders[:] = [name for name in folders if name != "node_modules" and Path(folder, name) not in ignored]
            yield from (Path(folder, name) for name in files if name.startswith("test_") and name.endswith(".py"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the longest tests first, so that no process of pytest-xdist ends long after others."""
    items.sort(key=lambda item: (item.get_closest_marker("soak") is not None, _time_limit(item)), reverse=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """End the process if the time limit of a test has no effect: uvloop discards exceptions of signal handlers.

    pytest-xdist then reports the test as failed and starts another process.
    """
    limit = _time_limit(item) or float(item.config.getini("timeout"))
    faulthandler.dump_traceback_later(limit + GRACE, exit=True)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


def _time_limit(item: pytest.Item) -> float:
    """The seconds of the marker `timeout`; 0 without it."""
    marker = item.get_closest_marker("timeout")
    return float(marker.args[0]) if marker is not None else 0.0


def pytest_configure(config: pytest.Config) -> None:
    # A shell makes background programs ignore SIGINT. Those that tests start would inherit that, and ignore Ctrl-C.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.pluginmanager.register(FailuresAtOnce(config))
    if old := outdated(config.rootpath):
        raise pytest.UsageError(f"compiled from older sources (`make pure` removes them): {', '.join(old)}")


def pytest_report_header() -> str:
    return f"hawse: {BUILD} build"
