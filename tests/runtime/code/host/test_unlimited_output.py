"""Kernels that are Python programs lose no output."""

from pathlib import Path

from runtime.code.host.unlimited_output import CODE, keeping_output
from runtime.code.host_protocol import Execute, Pause, Resume, RunDone
from tests.support.kernel_host import HostProcess
from tests.support.waiting import exists


def test_only_python_programs_of_other_languages_are_started_by_the_code() -> None:
    command = ["/usr/bin/python3.11", "-m", "bash_kernel", "-f", "file"]
    assert keeping_output(command, "bash") == ["/usr/bin/python3.11", "-c", CODE, "bash_kernel", "-f", "file"]
    assert keeping_output(command, "Python") == command
    assert keeping_output(["deno", "jupyter"], "typescript") == ["deno", "jupyter"]
    assert keeping_output(["python3", "kernel.py"], "bash") == ["python3", "kernel.py"]


async def test_bash_keeps_its_output_while_nothing_is_read(tmp_path: Path) -> None:
    printed = tmp_path / "printed"
    async with HostProcess() as host:
        await host.start(language="bash")
        host.send(Pause(executor=1))
        host.send(Execute(executor=1, run=1, source=f"seq 2500; touch {printed}"))
        await exists(printed)
        host.send(Resume(executor=1))
        received = await host.until(lambda each: isinstance(each, RunDone))
        output = b"".join(each[2] for each in received if isinstance(each, tuple))
        assert output == b"".join(b"%d\n" % n for n in range(1, 2501))
