"""The synchronous client against a real gateway: each kind of handle, from several threads."""

import asyncio
import importlib
import inspect
import pkgutil
import threading
from collections.abc import Iterator

import pytest

import hawse.sync
from hawse import client
from hawse.client import CommandError, HawseError, Output, RefusedError, WatchedChange
from tests.support.stack import Stack

# Classes of the client that a caller does not get: what runs the connection, and base classes.
INTERNAL = {
    *(
        "Automation",
        "CallTable",
        "CountingConnection",
        "CreatedHandle",
        "Execution",
        "GatewayConnection",
        "InputStream",
        "Lifecycle",
    ),
    *("Options", "OutputRange", "ReceiveBuffer", "Reconnector", "Reread", "StreamHandle"),
    "SandboxCreation",  # `CreatedSandbox` stands for what it creates
}


def test_every_class_with_coroutines_has_a_synchronous_one() -> None:
    modules = [importlib.import_module(each.name) for each in pkgutil.walk_packages(client.__path__, "hawse.client.")]
    found = {
        name
        for module in modules
        for name, cls in vars(module).items()
        if inspect.isclass(cls) and cls.__module__ == module.__name__ and has_coroutines(cls) and name[0] != "_"
    }
    wrapped = {name for name, value in vars(hawse.sync).items() if inspect.isclass(value)}
    assert found - wrapped == INTERNAL


def has_coroutines(cls: type) -> bool:
    return any(
        inspect.iscoroutinefunction(member) or inspect.isasyncgenfunction(member)
        for name, member in inspect.getmembers(cls)
        if not name.startswith("_") or name == "__aenter__"
    )


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with asyncio.Runner() as runner:
        stack = Stack(tmp_path_factory.mktemp("s"))
        runner.run(stack.start())
        yield stack
        runner.run(stack.close())


@pytest.fixture
def box(stack: Stack) -> Iterator[hawse.sync.Sandbox]:
    with hawse.sync.connect(stack.url) as client:
        yield client.sandbox()


def test_a_command_runs_and_fails_as_with_the_asynchronous_client(box: hawse.sync.Sandbox) -> None:
    done = box.exec("echo out; echo err >&2")
    assert (done.text, done.stderr, done.code) == ("out\n", b"err\n", 0)
    with pytest.raises(CommandError, match="exited with 3"):
        box.exec("exit 3", check=True)
    with pytest.raises(HawseError, match="spawn_failed"):
        box.exec(["no-such-program"])


def test_output_arrives_while_a_command_runs(box: hawse.sync.Sandbox) -> None:
    parts: list[bytes] = []
    done = box.exec("printf a; printf b >&2; printf c", on_stdout=parts.append, max_output=1)
    assert (b"".join(parts), done.stdout, done.stderr_text, done.truncated) == (b"ac", b"a", "b", True)
    assert done.duration is not None


def test_what_a_callback_raises_ends_the_command(box: hawse.sync.Sandbox) -> None:
    def refuse(_: bytes) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        box.exec("trap ': > ended; exit' TERM; echo $$; sleep 1000 & wait", on_stdout=refuse)
    assert box.exec("while [ ! -e ended ]; do sleep 0.01; done", timeout=30).code == 0


def test_output_of_a_process_is_iterated_and_it_ends_with_the_block(box: hawse.sync.Sandbox) -> None:
    with box.process("cat; exec sleep 1000", stdin=True) as process:
        process.write(b"typed\n")
        assert next(process.stdout) == b"typed\n"
    assert process.wait_for_exit().signal is not None


def test_a_terminal_is_driven(box: hawse.sync.Sandbox) -> None:
    with box.terminal() as terminal:
        terminal.write(b"echo typ''ed\r")
        assert any(isinstance(item, Output) and b"typed" in item.data for item in terminal.items())
        assert terminal.run("exit 3 | cat; echo done").code == 0
        terminal.kill()


def test_files_are_streamed_both_ways(box: hawse.sync.Sandbox) -> None:
    with box.files.open_write("sync/file") as file:
        file.write(b"one")
        file.write(b"two")
    assert file.result.bytes == 6
    with box.files.open_read("sync/file") as content:
        assert b"".join(content) == b"onetwo"
    box.files.write("sync/other", iter([b"a", b"b"]))
    assert sorted(entry.path for entry in box.files.list("sync")) == ["file", "other"]


def test_a_session_keeps_its_state(box: hawse.sync.Sandbox) -> None:
    with box.session() as session:
        session.exec("A=kept")
        assert session.exec("echo $A").text == "kept\n"


def test_sandboxes_are_created_and_deleted_at_the_end_of_the_block(stack: Stack) -> None:
    with hawse.sync.connect(stack.url) as hw:
        stays = hw.sandboxes.create(labels={"test": "sync"})
        with hw.sandboxes.create(labels={"test": "sync"}) as leaves:
            assert leaves.exec("echo here").text == "here\n"
            assert {info.id for info in hw.sandboxes.list(labels={"test": "sync"})} == {stays.id, leaves.id}
        assert [info.id for info in hw.sandboxes.list(labels={"test": "sync"})] == [stays.id]
        stays.delete()


def test_changes_of_files_are_iterated(box: hawse.sync.Sandbox) -> None:
    box.files.mkdir("watched")
    with box.watch("watched") as changes:
        box.files.write_text("watched/new", "x")
        change = next(iter(changes))
        assert isinstance(change, WatchedChange)
        assert change.path.endswith("/watched/new")


def test_threads_share_one_client(box: hawse.sync.Sandbox) -> None:
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda n=n: found.append(box.exec(["echo", str(n)]).text.strip())) for n in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(int, found)) == list(range(20))


def test_a_refused_token_is_raised_by_connect(stack: Stack) -> None:
    with pytest.raises(RefusedError, match="unauthenticated"):
        hawse.sync.connect(stack.base, token="wrong")


def test_a_client_can_be_closed_twice_and_is_of_no_use_then(stack: Stack) -> None:
    client = hawse.sync.connect(stack.url)
    client.close()
    client.close()
    with pytest.raises(HawseError, match="closed"):
        client.sandbox().exec("true")
