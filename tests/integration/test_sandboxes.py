"""Many sandboxes through a real gateway with real runtimes: the Python client, HTTP, and what remains afterwards."""

import asyncio
import os
import signal

import pytest

import hawse
from tests.support.http_clients import http_client
from tests.support.runtime import alive
from tests.support.stack import Stack


@pytest.fixture
def stack(new_stack: Stack) -> Stack:
    return new_stack


async def created(hw: hawse.Client, id: str) -> hawse.Sandbox:
    return await hw.sandboxes.create(id)


async def test_a_sandbox_is_created_used_stopped_woken_and_deleted(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = await hw.sandboxes.create("mine", env={"GREETING": "hello"}, labels={"team": "x"})
        assert (await box.exec("echo $GREETING")).stdout == b"hello\n"
        assert [info.id for info in await hw.sandboxes.list(labels={"team": "x"})] == ["mine"]
        again = await hw.sandboxes.create("mine", env={"GREETING": "hello"}, labels={"team": "x"})
        assert again.id == "mine"
        with pytest.raises(hawse.HawseError, match="conflict"):
            await hw.sandboxes.create("mine", env={"GREETING": "other"})
        await box.files.write("kept", b"1")
        first = (await box.info()).runtime
        await box.stop()
        with pytest.raises(hawse.HawseError, match="stopped"):
            await box.exec("true")
        await box.wake()
        assert (await box.info()).runtime not in (None, first)
        assert await box.files.read("kept") == b"1"
        await box.delete()
        with pytest.raises(hawse.HawseError, match="not_found"):
            await box.exec("true")
    assert not (stack.state / "sandboxes" / "mine").exists()
    assert stack.runtimes("mine") == []


async def test_a_link_ends_with_its_sandbox_and_does_not_open_a_later_one_with_its_id(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        for id in ("kept", "gone", "expired"):
            await hw.links.create(sandbox=id)
        before = {link.sandbox for link in await hw.links.list()}
        for id in ("kept", "gone"):
            await hw.sandboxes.create(id)
            await hw.links.create(sandbox=id)
            await hw.sandboxes.create(id)  # it already exists
        await hw.sandbox("gone").delete()
        after = [link.sandbox for link in await hw.links.list()]
        assert before == {"kept", "gone", "expired"}
        assert sorted(after) == ["expired", "kept"], "those of `kept` before its creation were for an earlier sandbox"


async def test_fifty_concurrent_creations_of_an_id_make_one_sandbox(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        boxes = await asyncio.gather(*(created(hw, "one") for _ in range(50)))
        runtimes = {(await box.runtime()).runtime for box in boxes[:5]}
        assert len(runtimes) == 1
        assert len(stack.runtimes("one")) == 1


async def test_a_context_manager_deletes_its_sandbox_also_after_an_exception(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        with pytest.raises(ZeroDivisionError):
            async with hw.sandboxes.create() as box:
                assert (await box.exec("echo 1")).stdout == b"1\n"
                raise ZeroDivisionError
        assert [info.id for info in await hw.sandboxes.list()] == ["local"]


async def test_the_environment_reaches_every_kind_of_program_and_an_update_later_ones(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw, hw.sandboxes.create(env={"A": "1"}) as box:
        async with box.sessions.create() as session:
            await box.update(env={"A": None, "B": "2"})
            assert (await session.exec("echo $A-$B")).stdout == b"1-\n"
        assert (await box.exec("echo $A-$B")).stdout == b"-2\n"
        assert (await box.exec("echo $A-$B", env={"B": "3"})).stdout == b"-3\n"
        async with box.sessions.create() as session:
            assert (await session.exec("echo $A-$B")).stdout == b"-2\n"
        async with box.processes.start("echo $A-$B") as process:
            assert b"".join([part async for part in process.stdout]) == b"-2\n"
        async with box.terminals.open(argv=["sh", "-c", "echo $A-$B"]) as terminal:
            await terminal.expect("-2")


async def test_a_watch_reports_every_state_across_a_restart_of_the_gateway(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw, hw.sandboxes.watch() as changes:
        seen: list[hawse.SandboxChange] = []

        async def until(item: tuple[str, str | None]) -> None:
            async with asyncio.timeout(30):
                async for change in changes:
                    seen.append(change)
                    if (change.id, None if change.info is None else change.info.state) == item:
                        return

        await until(("local", "sleeping"))
        box = await hw.sandboxes.create("a")
        await until(("a", "running"))
        await stack.kill()
        await stack.start()
        await box.delete()
        await until(("a", None))
        of_local = [change for change in seen if change.id == "local"]
        assert len(of_local) == 1, "what has not changed is not reported again"


async def test_every_method_is_reachable_over_http(stack: Stack) -> None:
    headers = {"Authorization": f"Bearer {stack.token}"}
    async with http_client(stack.base, headers=headers, timeout=60) as http:
        created = await http.post("/v1/sandbox.create", json={"id": "h", "env": {"A": "1"}})
        assert (created.status_code, created.json()["state"]) == (200, "running")
        done = await http.post("/v1/sandboxes/h/exec", json={"command": "echo $A"})
        assert done.json()["stdout"] == "1\n"
        stopped = await http.post("/v1/sandbox.stop", json={"id": "h"})
        assert stopped.json()["state"] == "stopped"
        refused = await http.post("/v1/sandboxes/h/exec", json={"command": "true"})
        assert (refused.status_code, refused.json()["code"]) == (409, "stopped")
        assert (await http.post("/v1/sandbox.delete", json={"id": "h"})).json() == {}
        assert (await http.post("/v1/sandbox.get", json={"id": "h"})).status_code == 404


async def test_a_call_that_starts_its_sandbox_gets_an_event_with_the_phase(stack: Stack) -> None:
    headers = {"Authorization": f"Bearer {stack.token}", "Accept": "text/event-stream"}
    async with http_client(stack.base, headers=headers, timeout=60) as http:
        first = (await http.post("/v1/sandboxes/local/exec", json={"command": "true"})).text
        assert first.startswith('event: starting\ndata: {"phase":"starting"}\n\nevent: opened\n')
        second = (await http.post("/v1/sandboxes/local/exec", json={"command": "true"})).text
        assert second.startswith("event: opened\n")


async def test_a_gateway_killed_during_a_start_leaves_nothing_that_its_successor_does_not_end(stack: Stack) -> None:
    ids = [f"k{i}" for i in range(4)]
    async with http_client(stack.base, timeout=60) as http:
        headers = {"Authorization": f"Bearer {stack.token}"}
        creating = [
            asyncio.ensure_future(http.post("/v1/sandbox.create", json={"id": id}, headers=headers)) for id in ids
        ]
        async with asyncio.timeout(30):
            while not stack.runtimes():  # noqa: ASYNC110  # the first of them is being started
                await asyncio.sleep(0.002)
        await stack.kill()
        await asyncio.gather(*creating, return_exceptions=True)
    await stack.start()
    async with hawse.connect(stack.base, token=stack.token) as hw:
        async with asyncio.timeout(60):
            while any(info.state in ("starting", "stopping") for info in await hw.sandboxes.list()):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        for info in await hw.sandboxes.list():
            if info.id != "local":
                assert (await hw.sandbox(info.id).exec("echo 1")).stdout == b"1\n"
        assert all(len(stack.runtimes(id)) <= 1 for id in [*ids, "local"]), "one runtime for each sandbox"
        for info in await hw.sandboxes.list():
            if info.id != "local":
                await hw.sandbox(info.id).delete()
    assert len(stack.runtimes()) == len(stack.runtimes("local"))


async def test_a_sandbox_that_is_idle_sleeps_and_the_next_call_wakes_it(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = await hw.sandboxes.create("i", idle_timeout=0.2)
        first = (await box.runtime()).runtime
        async with hw.sandboxes.watch() as changes, asyncio.timeout(60):
            async for change in changes:
                if change.info is not None and (change.id, change.info.state) == ("i", "sleeping"):
                    assert change.info.reason == "idle"
                    break
        assert (await box.runtime()).runtime != first


async def test_a_killed_runtime_leaves_no_process_and_the_sandbox_is_started_again(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        box = await hw.sandboxes.create("d")
        process = await box.processes.start("sleep 300")
        async with box.terminals.open(argv=["cat"]) as terminal:
            os.kill((await box.runtime()).pid, signal.SIGKILL)
            with pytest.raises(hawse.HawseError):  # this viewer detects when the gateway has noticed the end
                await terminal.expect("never")
        assert (await box.exec("echo 1")).stdout == b"1\n"
        assert not alive(process.pid)


async def test_a_program_needs_no_client_for_one_sandbox(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAWSE_URL", stack.base)
    monkeypatch.setenv("HAWSE_TOKEN", stack.token)
    box = await hawse.Sandbox.create("build", env={"A": "1"}, labels={"team": "x"})
    assert (await box.exec("echo $A")).text == "1\n"
    await box.close()
    with pytest.raises(hawse.HawseError, match="closed"):
        await box.exec("true")
    async with hawse.Sandbox.get("build") as same:
        assert (await same.exec("echo $A")).text == "1\n"
    assert [info.id for info in await hawse.Sandbox.list(labels={"team": "x"})] == ["build"], "it was not deleted"
    async with hawse.Sandbox.create(labels={"team": "x"}) as leaves:
        assert len(await hawse.Sandbox.list(labels={"team": "x"})) == 2
    with pytest.raises(hawse.NotFoundError):
        await hawse.Sandbox.get(leaves.id)

    async with hawse.connect() as hw:
        same = await hawse.Sandbox.get("build", client=hw)
        assert same.connection is None
        other = await hawse.Sandbox.create("other", client=hw)
        assert {info.id for info in await hawse.Sandbox.list(client=hw)} == {"local", "build", "other"}
        await other.close()
        await same.delete()
        await other.delete()
        assert hw.state is hawse.ConnectionState.OPEN
