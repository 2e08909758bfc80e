"""Kernels that are Python programs lose no output."""

from pathlib import Path

from hawse_runtime.code.host.unlimited_output import CODE, keeping_output
from hawse_runtime.code.host_protocol import Execute, Pause, Resume, RunDone
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


async def test_a_long_line_of_bash_takes_time_in_proportion_to_its_length() -> None:
    """A line of 1.5 MB took 50 s of processor time when it was searched from its beginning after each 2,000 bytes."""
    async with HostProcess() as host:
        await host.start(language="bash")
        received = await host.run("head -c 1500000 /dev/zero | tr '\\0' x")
        output = b"".join(each[2] for each in received if isinstance(each, tuple))
        assert (output.count(b"x"), output.strip(b"x")) == (1_500_000, b"\n")
