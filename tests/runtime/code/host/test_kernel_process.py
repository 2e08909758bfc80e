"""The process of a kernel: its start, start-up failures, and its limits."""

import json
import os
import sys
from pathlib import Path

import pytest

from hawse_runtime.code.host.__main__ import NICENESS
from hawse_runtime.code.host.kernel_process import OPEN_FILES
from tests.support.kernel_host import HostProcess
from tests.support.waiting import gone


def add_kernel(folder: Path, name: str, *program: str) -> dict[str, str]:
    """Install a kernel specification; return the variables that make it discoverable."""
    where = folder / "kernels" / name
    where.mkdir(parents=True)
    where.joinpath("kernel.json").write_text(
        json.dumps({"argv": [sys.executable, "-c", *program], "display_name": name, "language": "strange"})
    )
    return {"JUPYTER_PATH": str(folder)}


async def test_a_kernel_has_the_usual_limit_of_open_files_and_sockets_that_others_cannot_reach() -> None:
    async with HostProcess() as host:
        await host.start(language="python")
        received = await host.run("import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])")
        assert (1, 1, b"%d\n" % OPEN_FILES) in received
        names = {path.name for path in host.folder.iterdir()}
        assert {"1.json", "1-1"} <= names


async def test_kernels_run_behind_the_programs_of_terminals() -> None:
    async with HostProcess() as host:
        await host.start(language="python")
        received = await host.run("import os; print(os.sched_getscheduler(0) == os.SCHED_BATCH, os.nice(0))")
        assert (1, 1, b"True %d\n" % min(19, os.nice(0) + NICENESS)) in received


async def test_a_kernel_that_does_not_start_says_why(tmp_path: Path) -> None:
    env = add_kernel(tmp_path, "broken", "import sys; sys.exit('no such licence')")
    async with HostProcess(env) as host:
        with pytest.raises(AssertionError, match="no such licence"):
            await host.start(kernel="broken")


async def test_a_kernel_that_hangs_at_its_start_is_killed_in_time(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    program = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    env = add_kernel(tmp_path, "hangs", program)
    async with HostProcess(env) as host:
        with pytest.raises(AssertionError, match="no answer within 3 s"):
            await host.start(kernel="hangs", timeout=3.0)
        await gone(int(note.read_text()))
