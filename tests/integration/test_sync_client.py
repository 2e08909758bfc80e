"""The synchronous client against a real gateway: each kind of handle, from several threads."""

import asyncio
import importlib
import inspect
import multiprocessing
import pkgutil
import signal
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from typing import Any
from urllib.request import urlopen
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import pytest

import hawse.sync
from hawse import client
from hawse.client import CommandError, HawseError, Output, RefusedError, UnauthenticatedError, WatchedChange
from tests.support.stack import Stack

# Classes of the client that callers never receive: the connection's internals, and base classes.
INTERNAL = {
    *(
        "Automation",
        "CallTable",
        "CountingConnection",
        "CreatedHandle",
        "Execution",
        "Follower",
        "GatewayConnection",
        "InputStream",
        "Lifecycle",
    ),
    *("FileChanges", "FileListing", "FileQueries", "LocalEndpoint", "RemoteEndpoint", "TreeTransfer"),
    *("ByteStream", "ByteStreamHandle", "LineReader", "Options", "OutputRange", "ProcessOutput"),
    *("ReceiveBuffer", "Reconnector", "Reread", "ResumableUpload", "StreamHandle"),
    "ProcessStarting",  # callers receive a `Process` instead
    "SandboxOpening",  # callers receive an `OpenedSandbox` instead
    "SandboxCreation",  # callers receive a `CreatedSandbox` instead
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
    public = {name for name, value in vars(hawse.sync).items() if getattr(value, "__module__", "") == "hawse.sync"}
    assert set(hawse.sync.__all__) == public | {"timeout"}


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
        box.exec("trap ': > ended; exit' TERM; echo $$; while :; do sleep 1000 & wait; done", on_stdout=refuse)
    assert box.exec("while [ ! -e ended ]; do sleep 0.01; done", timeout=30).code == 0


LONG = "trap 'echo gone > c-ended; exit' TERM; echo > c-begun; while :; do sleep 0.1; done"  # a command


@pytest.mark.parametrize(
    "program",
    [
        "with hawse.sync.connect(URL) as hw: hw.sandbox().exec(LONG)",
        "hw = hawse.sync.connect(URL); hw.sandbox().exec(LONG)",  # nothing closes the client
    ],
)
def test_ctrl_c_ends_the_command(stack: Stack, box: hawse.sync.Sandbox, program: str) -> None:
    box.exec("rm -f c-*; mkfifo c-begun c-ended", check=True)
    program = f"import sys, hawse.sync; URL, LONG = sys.argv[1:]\n{program}"
    arguments = [sys.executable, "-c", program, stack.url, LONG]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as running:
        box.exec(["cat", "c-begun"], check=True)
        running.send_signal(signal.SIGINT)
        assert box.exec(["cat", "c-ended"], check=True, timeout=60).text == "gone\n"
        assert "KeyboardInterrupt" in running.communicate(timeout=60)[1]
    assert running.returncode == -signal.SIGINT


def test_the_end_of_the_program_ends_the_commands_of_its_other_threads(stack: Stack, box: hawse.sync.Sandbox) -> None:
    box.exec("rm -f c-*; mkfifo c-begun c-ended", check=True)
    program = """if True:
        import sys, threading, hawse.sync
        url, long = sys.argv[1:]
        box = hawse.sync.connect(url).sandbox()
        threading.Thread(target=box.exec, args=[long], daemon=True).start()
        box.exec(["cat", "c-begun"])
    """
    arguments = [sys.executable, "-c", program, stack.url, LONG]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert box.exec(["cat", "c-ended"], check=True, timeout=60).text == "gone\n"


def test_a_time_limit_ends_what_its_calls_have_started(box: hawse.sync.Sandbox) -> None:
    over = r"the time limit set with `hawse\.sync\.timeout` has passed"
    with pytest.raises(hawse.DeadlineExceededError, match=over), hawse.sync.timeout(0.5):
        box.exec("exec sleep 1000.25")
    for info in box.processes.list():
        if "exec sleep 1000.25" in info.argv:
            with suppress(hawse.NotFoundError):  # it has ended since it was listed
                assert box.processes.attach(info.id, instance=info.instance).wait(timeout=60).signal == "SIGTERM"


def test_a_block_that_is_left_after_its_time_limit_ends_what_it_holds(box: hawse.sync.Sandbox) -> None:
    process = box.processes.start("exec sleep 1000")
    process.__enter__()
    with hawse.sync.timeout(0):
        process.__exit__(None, None, None)
    assert box.processes.get(process.id).state == "exited"


def test_output_of_a_process_is_iterated_and_it_ends_with_the_block(box: hawse.sync.Sandbox) -> None:
    with box.processes.start("cat; exec sleep 1000", stdin=True) as process:
        process.write(b"typed\n")
        assert next(process.stdout) == b"typed\n"
    ended = box.processes.get(process.id).exit
    assert ended is not None
    assert ended.signal is not None


def test_what_is_created_outside_a_block_stays_until_it_is_ended(box: hawse.sync.Sandbox) -> None:
    session = box.sessions.create("stays")
    session.exec("cd /")
    with box.sessions.attach("stays") as same:
        assert same.exec("pwd").text == "/\n"
    session.delete()
    assert "stays" not in [each.id for each in box.sessions.list()]

    process = box.processes.start("exec sleep 1000", id="stays")
    assert process.info().state == "running"
    assert process.kill().signal == "SIGTERM"
    process.close()

    terminal = box.terminals.open("stays", argv=["cat"])
    with box.terminals.attach("stays", instance=terminal.instance) as again:
        again.send("typed\n")
        assert terminal.expect("typed").text == "typed"
    terminal.kill()
    terminal.close()


def test_output_is_read_by_lines(box: hawse.sync.Sandbox) -> None:
    with box.processes.start("echo one; echo two; printf three") as process:
        assert next(process.stdout.lines()) == "one"
        assert list(process.stdout.lines()) == ["two", "three"]
        assert process.offset["stdout"] == 13
    box.files.write_text("lines", "a\nb")
    with box.files.open_read("lines") as file:
        assert list(file.lines()) == ["a", "b"]


def test_a_terminal_is_driven(box: hawse.sync.Sandbox) -> None:
    with box.terminals.open() as terminal:
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
    with box.sessions.create() as session:
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


def test_a_program_needs_no_client_for_one_sandbox(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAWSE_URL", stack.base)
    monkeypatch.setenv("HAWSE_TOKEN", stack.token)
    box = hawse.sync.Sandbox.create("build", env={"A": "1"}, labels={"of": "class"})
    assert box.exec("echo $A").text == "1\n"
    box.close()
    with pytest.raises(HawseError, match="closed"):
        box.exec("true")
    with hawse.sync.Sandbox.get("build") as same:
        assert same.exec("echo $A").text == "1\n"
    with pytest.raises(HawseError, match="closed"):
        same.exec("true")
    with hawse.sync.Sandbox.create(labels={"of": "class"}) as leaves:
        found = {info.id for info in hawse.sync.Sandbox.list(labels={"of": "class"})}
        assert found == {"build", leaves.id}
    with pytest.raises(client.NotFoundError):
        hawse.sync.Sandbox.get(leaves.id)

    with hawse.sync.connect() as hw:
        same = hawse.sync.Sandbox.get("build", client=hw)
        with hawse.sync.Sandbox.create("other", client=hw):
            assert len(hawse.sync.Sandbox.list(labels={"of": "class"}, client=hw)) == 1
        same.close()
        assert hw.sandbox("build").exec("true").ok, "the client is not closed"
        same.delete()


def test_changes_of_files_are_iterated(box: hawse.sync.Sandbox) -> None:
    box.files.mkdir("watched")
    with box.watches.start("watched") as changes:
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
    with pytest.raises(UnauthenticatedError, match="unauthenticated") as caught:
        hawse.sync.connect(stack.base, token="wrong")
    assert isinstance(caught.value, RefusedError)


def test_a_client_can_be_closed_twice_and_is_of_no_use_then(stack: Stack) -> None:
    client = hawse.sync.connect(stack.url)
    client.close()
    client.close()
    with pytest.raises(HawseError, match="closed"):
        client.sandbox().exec("true")


def test_it_works_in_a_thread_that_runs_an_event_loop_as_a_notebook_does(box: hawse.sync.Sandbox) -> None:
    async def cell() -> str:
        return box.exec("echo in a cell").text

    assert asyncio.run(cell()) == "in a cell\n"


def in_another_process(address: str, number: int) -> str:
    with hawse.sync.connect(address) as hw:
        return hw.sandbox().exec(["echo", str(number)]).text.strip()


def test_processes_of_a_pool_have_clients_of_their_own(stack: Stack, box: hawse.sync.Sandbox) -> None:
    assert box.exec("true").ok, "the loop of this process runs"
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        found = list(pool.map(in_another_process, [stack.url] * 4, range(4), timeout=60))
    assert found == ["0", "1", "2", "3"]


def test_the_threads_of_a_web_server_share_one_client(box: hawse.sync.Sandbox) -> None:
    class Server(socketserver.ThreadingMixIn, WSGIServer):
        pass

    class Quiet(WSGIRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [box.exec(["echo", environ["PATH_INFO"]]).stdout]

    with make_server("127.0.0.1", 0, application, server_class=Server, handler_class=Quiet) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            with ThreadPoolExecutor(8) as pool:
                addresses = [f"http://127.0.0.1:{server.server_port}/{number}" for number in range(16)]
                answers = list(pool.map(lambda address: urlopen(address, timeout=30).read(), addresses))
        finally:
            server.shutdown()
            serving.join()
    assert answers == [b"/%d\n" % number for number in range(16)]
