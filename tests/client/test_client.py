"""Connecting and closing a client, and the completeness of its methods."""

import ast
import asyncio
import importlib
import tomllib
from pathlib import Path

import pytest

import hawse
import hawse.client
import hawse.sync
from hawse.api import GATEWAY, METHODS, Params
from hawse.api.rights import CONTROL
from hawse.client import ConnectionState, Options
from hawse.client.connection.dial import client_name
from hawse.wire import HawseError
from tests.support.client import QUICK, eventually
from tests.support.fake_server import FakeServer
from tests.support.proxy import CuttingProxy
from tests.support.runtime import open_fds
from tests.support.sync_bridge import Connect
from tests.support.waiting import tasks_ended

ROOT = Path(__file__).resolve().parents[2]


async def test_any_method_can_be_called(hw: hawse.Client) -> None:
    assert await hw.call("echo", {"a": [1, None, "ü"]}) == {"a": [1, None, "ü"]}
    assert await hw.sandbox("other").call("echo", {"b": 2}) == {"b": 2}
    with pytest.raises(HawseError) as caught:
        await hw.call("nonsense")
    assert (caught.value.code, caught.value.retryable, caught.value.admitted) == ("unknown_method", False, "no")


async def test_a_token_that_is_not_a_string_is_refused(server: FakeServer, connect: Connect) -> None:
    with pytest.raises(TypeError, match=r"^token must be a string or an async function, not int$"):
        hawse.connect(server.url, token=3)  # type: ignore[arg-type]

    async def fetch() -> str:
        return 3  # type: ignore[return-value]

    with pytest.raises(HawseError, match="the token function returned a value of type int instead of a string"):
        async with connect(server.url, token=fetch, options=Options(connect_timeout=0.3)):
            pass


async def test_a_client_reports_its_state(hw: hawse.Client) -> None:
    await hw.call("echo")
    assert hw.state is ConnectionState.OPEN
    assert hw.connections == 1
    assert hw.welcome
    assert (hw.welcome.identity, hw.welcome.role) == (client_name(), "gateway")
    assert hw.rtt is not None
    assert hw.rtt < 5


async def test_a_client_is_shown_with_its_address_and_state_and_without_its_token(server: FakeServer) -> None:
    client = hawse.Client(f"{server.url}/#token=secret-secret-secret")
    assert repr(client).startswith("<Client 'http://127.0.0.1:")
    assert repr(client).endswith(" not connected>")
    assert "secret" not in repr(client)


@pytest.mark.async_only("the bridge has different representations")
async def test_an_open_client_is_shown_as_such(hw: hawse.Client) -> None:
    assert " open>" in repr(hw)


async def test_the_token_may_be_in_the_address(server: FakeServer, connect: Connect) -> None:
    server.token = "abc"
    async with connect(f"{server.url}/#token=abc"):
        pass
    assert server.authorization == ["Bearer abc"]


async def test_a_call_with_a_key_runs_once_although_its_connection_is_lost(
    cut_hw: hawse.Client, proxy: CuttingProxy, server: FakeServer
) -> None:
    for number in range(20):
        asking = asyncio.create_task(cut_hw.call("count", key=f"key {number}"))
        if number % 2:  # the call has run; otherwise it is sent on a connection that is already cut
            await server.until(lambda: server.counted > number)  # noqa: B023
        proxy.cut()
        assert await asking == number + 1
    assert server.counted == 20


async def test_a_call_without_a_key_is_never_sent_twice(
    cut_hw: hawse.Client, proxy: CuttingProxy, server: FakeServer
) -> None:
    asking = asyncio.create_task(cut_hw.call("never"))
    await server.until(lambda: server.calls)
    proxy.cut()
    with pytest.raises(HawseError) as caught:
        await asking
    assert (caught.value.code, caught.value.admitted) == ("interrupted", "unknown")


async def test_a_hundred_calls_share_the_connection(hw: hawse.Client, server: FakeServer) -> None:
    answers = await asyncio.gather(*(hw.call("echo", {"n": n}) for n in range(100)))
    assert [answer["n"] for answer in answers] == [*range(100)]
    assert server.served == 1


async def test_more_calls_than_channels_wait_for_their_turn(server: FakeServer, connect: Connect) -> None:
    async with connect(server.url, options=QUICK) as hw:
        answers = await asyncio.gather(*(hw.call("echo", {"n": n}) for n in range(3000)))
    assert len(answers) == 3000


async def test_a_call_is_not_delayed_by_an_upload(hw: hawse.Client, server: FakeServer) -> None:
    """The upload has far more to send than what goes out before the call's answer is back."""
    data = bytes(20_000_000)
    uploading = asyncio.create_task(hw.sandbox().files.write("big", data))
    await server.until(lambda: server.keys("file.write"))
    await hw.call("echo")
    assert not uploading.done()
    assert (await uploading).bytes == len(data)


async def test_what_the_caller_raises_comes_out_as_it_was(server: FakeServer, connect: Connect) -> None:
    with pytest.raises(ZeroDivisionError):
        async with connect(server.url, options=QUICK):
            raise ZeroDivisionError


@pytest.mark.async_only(reason="a thread cannot be cancelled")
async def test_cancelling_the_user_of_a_client_cancels_cleanly(server: FakeServer, connect: Connect) -> None:
    entered = asyncio.Event()

    async def use() -> None:
        async with connect(server.url, options=QUICK) as hw:
            entered.set()
            await hw.call("never")

    task = asyncio.create_task(use())
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.async_only(reason="a thread cannot be cancelled")
async def test_cancelling_while_connecting_cancels_cleanly(proxy: CuttingProxy, connect: Connect) -> None:
    proxy.refuse()

    async def use() -> None:
        async with connect(proxy.url, options=Options(backoff_base=0.001)):
            pytest.fail("not reached")

    task = asyncio.create_task(use())
    await proxy.until_refused(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_client_leaves_no_task_and_no_file_descriptor(
    server: FakeServer, proxy: CuttingProxy, connect: Connect
) -> None:
    async def use() -> None:
        async with (
            connect(proxy.url, options=QUICK) as hw,
            hw.sandbox().terminals.open("main") as term,
            hw.sandbox().processes.start(["cat"], stdin=True) as process,
        ):
            await term.write(b"x")
            proxy.cut()
            await process.write(b"y")
            await hw.sandbox().files.read("numbers")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0):
                    await anext(process.stderr)

    await use()
    await quiet(server, proxy)
    files, tasks = len(open_fds()), asyncio.all_tasks()
    for _ in range(5):
        await use()
    await quiet(server, proxy)
    await eventually(lambda: len(open_fds()) <= files)  # sockets are closed in a later turn, without an event
    await tasks_ended(tasks)


async def quiet(server: FakeServer, proxy: CuttingProxy) -> None:
    """Wait until the other ends have closed their connections."""
    await server.until(lambda: not server.sessions)
    await proxy.until_closed()


@pytest.mark.async_only(reason="hawse.sync has no client before it is connected")
async def test_a_client_is_entered_once(server: FakeServer, connect: Connect) -> None:
    client = connect(server.url, options=QUICK)
    async with client:
        pass
    with pytest.raises(RuntimeError):
        await client.__aenter__()


def test_the_library_loads_its_names_on_demand() -> None:
    for name in hawse.__all__:
        assert getattr(hawse, name) is not None
    assert hawse.connect is hawse.client.connect
    with pytest.raises(AttributeError):
        hawse.nonsense  # type: ignore[attr-defined]  # noqa: B018


def test_every_name_of_the_client_is_loaded_when_it_is_used() -> None:
    assert len(hawse.client.__all__) > 100
    for name in hawse.client.__all__:
        assert getattr(hawse.client, name) is not None
    with pytest.raises(AttributeError):
        hawse.client.nonsense  # type: ignore[attr-defined]  # noqa: B018


def test_each_name_of_the_synchronous_client_is_one_of_the_asynchronous_one() -> None:
    made = {"CreatedSandbox", "OpenedSandbox"}  # what awaiting a `SandboxCreation` or `SandboxOpening` returns
    threads = {"timeout"}  # asynchronous programs have `asyncio.timeout`
    assert set(hawse.sync.__all__) - made - threads <= set(hawse.__all__)


def test_the_distribution_has_the_version_of_the_library() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "version" in settings["project"]["dynamic"]
    assert ROOT / settings["tool"]["hatch"]["version"]["path"] == Path(hawse.__file__)


async def test_a_client_that_is_awaited_is_connected_until_it_is_closed(server: FakeServer, connect: Connect) -> None:
    hw = await connect(server.url, options=QUICK)
    assert await hw.call("echo", {"a": 1}) == {"a": 1}
    await hw.close()
    await hw.close()
    assert hw.state is hawse.ConnectionState.CLOSED


async def test_without_an_address_the_gateway_of_the_environment_is_used(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, connect: Connect
) -> None:
    server.token = "secret"
    monkeypatch.setenv("HAWSE_URL", server.url)
    monkeypatch.setenv("HAWSE_TOKEN", "secret")
    async with connect(options=QUICK) as hw:
        assert await hw.call("echo", {"a": 1}) == {"a": 1}


# ---- completeness


def requests_of(path: Path) -> set[type]:
    """The parameter structs that a module of the client constructs."""
    module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    local: dict[str, object] = {}  # what its functions import on first use
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("hawse.api."):
            source = importlib.import_module(node.module)
            local |= {alias.name: getattr(source, alias.name) for alias in node.names}
    found = set()
    for node in nodes:
        if isinstance(node, ast.Call):
            first, *rest = ast.unparse(node.func).split(".")
            value: object = local.get(first) or getattr(module, first, None)
            for name in rest:
                value = getattr(value, name, None)
            if isinstance(value, type) and issubclass(value, Params):
                found.add(value)
    return found


def test_each_method_can_be_called_by_a_method_of_the_client() -> None:
    paths = [path for path in (ROOT / "hawse/client").rglob("*.py") if path.stem != "__init__"]
    requests = set().union(*map(requests_of, paths))
    declared = {spec.params for spec in [*METHODS.values(), *GATEWAY.values()] if spec.requires != CONTROL}
    assert declared - requests == set()
