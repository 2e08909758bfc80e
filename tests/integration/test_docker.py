"""Probes that run as user code in a container of a real gateway and engine. Each checks one promise of SECURITY.md."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

import hawse
from hawse.client import Client, Sandbox, SandboxLimits
from hawse.wire import HawseError
from tests.support import docker
from tests.support.docker_stack import DockerStack

pytestmark = [docker.needs_engine, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[DockerStack]:
    state = tmp_path_factory.mktemp("docker") / "s"
    async with DockerStack(state, "--provider", "docker", "--image", docker.BUSYBOX) as stack:
        yield stack


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(stack: DockerStack) -> AsyncIterator[Client]:
    async with hawse.connect(stack.base, token=stack.token) as client:
        yield client


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def box(client: Client) -> Sandbox:
    return client.sandbox()


async def output(box: Sandbox, command: str) -> str:
    """Run a command as user code, and return its stdout and stderr."""
    result = await box.exec(["/bin/sh", "-c", f"{{ {command}\n}} 2>&1"], timeout=60)
    return bytes(result.stdout).decode().strip()


# The runtime's pid as seen by programs: the process with its arguments in the command line, other than init.
RUNTIME = "R=$(ps | while read p u c; do case $c in /hawse/bundle/ld*) echo $p;; esac; done)"


async def test_programs_have_a_user_of_their_own_without_capabilities_and_new_privileges(box: Sandbox) -> None:
    status = await output(box, "cat /proc/self/status")
    assert re.search(r"Uid:\t1000\t1000\t1000\t1000", status)
    assert re.search(r"Groups:\t\s*\n", status)
    assert re.search(r"CapPrm:\t0+\n", status)
    assert re.search(r"CapEff:\t0+\n", status)
    assert "NoNewPrivs:\t1" in status
    assert "Seccomp:\t2" in status


async def test_programs_cannot_signal_the_runtime_or_any_of_its_threads(box: Sandbox) -> None:
    ends = "; ".join(f"kill -{name} $t && echo signalled" for name in ("KILL", "STOP", "TERM"))
    seen = await output(box, f'{RUNTIME}; [ "$R" ] && for t in $(ls /proc/$R/task); do {ends}; done; kill -9 1; true')
    assert "signalled" not in seen
    assert seen.count("not permitted") > 6
    assert await output(box, "echo alive") == "alive"


async def test_the_runtime_sees_a_program_of_the_other_user_that_waits_for_input(box: Sandbox) -> None:
    async with box.terminals.open("asks", argv=["sh", "-c", "stty -echo; printf 'Password: '; read x"]) as terminal:
        waited = await terminal.wait_for(waiting=True)
        assert waited.waiting is not None
        assert (waited.waiting.kind, waited.waiting.prompt, waited.waiting.guess) == ("secret", "Password:", False)
        await terminal.kill()


async def test_programs_cannot_read_the_memory_the_environment_or_the_files_of_the_runtime(box: Sandbox) -> None:
    for name in ("environ", "mem", "maps", "fd/3"):
        assert "denied" in await output(box, f"{RUNTIME}; cat /proc/$R/{name}")
    assert "denied" in await output(box, "cat /proc/1/environ")


async def test_programs_reach_neither_the_socket_nor_the_private_files_of_the_runtime(box: Sandbox) -> None:
    for path in ("/hawse/socket", "/hawse/private"):
        assert "denied" in await output(box, f"ls {path}")
        assert re.search("denied|Read-only", await output(box, f"mv {path} {path}2"))


async def test_the_token_is_not_in_the_environment_of_programs(box: Sandbox) -> None:
    assert "TOKEN" not in await output(box, "env")


async def test_only_the_workspace_and_temporary_directories_can_be_written(box: Sandbox) -> None:
    for path in ("/x", "/bin/x", "/etc/x", "/hawse/bundle/x", "/proc/sys/kernel/core_pattern", "/run/x"):
        assert re.search("Read-only|denied|No such", await output(box, f"echo x > {path}")), path
    assert await output(box, "echo x > /workspace/x && echo x > /tmp/x && cat /workspace/x") == "x"


async def test_the_network_is_a_loopback_interface_only(box: Sandbox) -> None:
    lines = (await output(box, "cat /proc/net/dev")).splitlines()[2:]
    assert [line.split(":")[0].strip() for line in lines] == ["lo"]


async def test_files_that_the_api_writes_belong_to_programs(box: Sandbox) -> None:
    await box.files.write("made.txt", b"text")
    assert await output(box, "stat -c %u:%g made.txt; echo more >> made.txt && cat made.txt") == "1000:1000\ntextmore"


async def test_a_terminal_and_a_process_work_and_can_be_ended(box: Sandbox) -> None:
    process = await box.processes.start(["/bin/sleep", "1000"])
    await process.kill()
    assert (await process.wait()).signal is not None
    assert bytes((await box.exec(["/bin/id", "-un"])).stdout) == b"user\n"


async def test_a_program_that_does_not_exist_is_a_typed_error(box: Sandbox) -> None:
    with pytest.raises(HawseError) as caught:
        await box.exec(["/no/such/program"])
    assert caught.value.code == "spawn_failed"


async def test_the_environment_of_the_sandbox_reaches_programs(client: Client) -> None:
    async with client.sandboxes.create(env={"COLOUR": "blue"}) as box:
        assert await output(box, "echo $COLOUR $HOME") == "blue /workspace"


async def test_the_limit_of_processes_is_enforced(client: Client) -> None:
    async with client.sandboxes.create(limits=SandboxLimits(processes=40)) as box:
        seen = await output(box, "for i in $(yes | head -n 60); do sleep 30 & done; true")
        assert re.search("can't fork|Resource temporarily unavailable", seen)


async def test_the_limit_of_memory_is_enforced_and_the_runtime_survives(client: Client) -> None:
    async with client.sandboxes.create(limits=SandboxLimits(memory=128 << 20)) as box:
        result = await box.exec(["/bin/sh", "-c", "x=$(yes | head -c 1000000000); echo survived"], timeout=60)
        assert b"survived" not in result.stdout
        assert await output(box, "echo alive") == "alive"


async def test_an_image_with_musl_runs(client: Client) -> None:
    async with client.sandboxes.create(image=docker.MUSL) as box:
        assert "musl libc" in await output(box, "/lib/ld-musl-*.so.1")


async def test_an_image_of_one_static_program_runs(client: Client) -> None:
    async with client.sandboxes.create(image=docker.SCRATCH) as box:
        result = await box.exec(["/busybox", "id", "-u"])
        assert bytes(result.stdout) == b"1000\n"


@pytest.mark.parametrize("image", [docker.MUSL, docker.SCRATCH])
async def test_python_code_runs_in_an_image_without_python_as_the_user_of_programs(client: Client, image: str) -> None:
    async with client.sandboxes.create(image=image) as box:
        async with box.code.create("python") as ctx:
            done = await ctx.run("import os, sqlite3, ssl; (os.getresuid(), os.getgroups(), os.getcwd())")
            assert (done.error, done.text) == (None, "((1000, 1000, 1000), [], '/workspace')")
            shown = await ctx.run("from IPython.display import HTML; help(abs); HTML('<b>x</b>')")
            assert shown.results[0].html == "<b>x</b>"
            assert "absolute value" in bytes(shown.stdout).decode()
            denied = await ctx.run("import os; os.kill(1, 0)")
            assert denied.error is not None
            assert denied.error.name == "PermissionError"
            ended = await ctx.run("import os; os._exit(3)")
            assert (ended.status, ended.exit.code if ended.exit else None) == ("crashed", 3)
        (python,) = [each for each in await box.code.languages() if each.language == "python"]
        assert python.kernel == "python3"


async def test_the_command_of_an_image_runs_beside_the_runtime_in_its_directory(client: Client) -> None:
    async with client.sandboxes.create(image=docker.COMMAND, image_command=True, env={"A": "1"}) as box:
        (process,) = await box.processes.list()
        assert process.id == "image"
        attached = await box.processes.attach("image")
        lines = await attached.wait_for_log("HOME=", timeout=60)
        assert lines is not None
        seen = await output(box, f"tr '\\0' '\\n' < /proc/{process.pid}/environ 2>&1; ls -l /proc/{process.pid}/cwd")
        assert {"A=1", "B=2"} <= set(seen.splitlines())
        assert seen.endswith("-> /bin")


async def test_an_update_removes_a_variable(client: Client) -> None:
    async with client.sandboxes.create(env={"A": "1", "B": "1"}) as box:
        await box.update(env={"A": None})
        assert await output(box, "echo $A-$B") == "-1"


async def test_a_sandbox_is_paused_and_resumed_with_what_runs_in_it(client: Client) -> None:
    async with client.sandboxes.create() as box:
        process = await box.processes.start(["/bin/sleep", "1000"])
        assert (await box.pause()).state == "paused"
        assert (await box.info()).state == "paused"
        with pytest.raises(HawseError, match="was paused by owner"):
            await box.exec(["/bin/true"])
        assert (await box.resume()).state == "running"
        assert process.id in {each.id for each in await box.processes.list()}
        assert await output(box, "echo alive") == "alive"


async def test_images_are_listed_and_one_that_is_used_is_not_removed(client: Client) -> None:
    names = {name for each in await client.images.list() for name in each.names}
    assert {f"{docker.BUSYBOX}:latest", f"{docker.MUSL}:latest"} <= names
    async with client.sandboxes.create(image=docker.COMMAND):
        with pytest.raises(HawseError) as caught:
            await client.images.remove(docker.COMMAND)
    assert caught.value.code == "conflict"
    with pytest.raises(HawseError, match="not_found"):
        await client.images.remove("hawse-test-missing")


async def test_an_image_without_a_command_is_refused(client: Client) -> None:
    with pytest.raises(HawseError, match="the image has no command"):
        await client.sandboxes.create(image_command=True)


async def test_sandboxes_are_deleted_without_a_trace(client: Client, stack: DockerStack) -> None:
    before = set(docker.left(stack.gateway))
    box = await client.sandboxes.create()
    await box.exec(["/bin/true"])
    assert len(set(docker.left(stack.gateway)) - before) == 3  # a container and two volumes
    await box.delete()
    assert set(docker.left(stack.gateway)) == before
    assert docker.mounts(Path(stack.state)) == []


async def test_a_backup_is_an_overlay_in_a_container_with_its_changes_at_the_next_start(client: Client) -> None:
    async with client.sandboxes.create() as box:
        await output(box, "mkdir -p t/d && echo 1 > t/a && echo s > t/s && chmod 400 t/s")
        backup = await box.backups.create("t")
        restored = await box.backups.restore(backup.id, path="o", mode="overlay")
        assert await output(box, "stat -c %U:%a o/s") == "user:400"
        await output(box, "cd o && chmod 600 s && echo more >> s && rm a && rmdir d && echo n > n")
        await box.stop()
        await box.wake()
        assert await output(box, "cd o && cat s n && ls && mount | grep -c hawse-m-") == "s\nmore\nn\nn\ns\n1"
        await box.mounts.delete(restored.mount or "")
        assert await output(box, "find o; mount | grep -c hawse-m-; cat t/s") == "o\n0\ns"


async def test_a_killed_gateway_finds_its_containers_again(stack: DockerStack, client: Client) -> None:
    box = await client.sandboxes.create()
    process = await box.processes.start(["/bin/sleep", "1000"])
    await stack.kill()
    await stack.start()
    async with hawse.connect(stack.base, token=stack.token) as again:
        running = {entry.id for entry in await again.sandbox(box.id).processes.list()}
        assert process.id in running
        await again.sandbox(box.id).delete()
