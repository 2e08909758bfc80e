"""A Jupyter kernel: its messages and its runs in progress."""

import asyncio
import hmac
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, cast

import msgspec
import zmq.asyncio

from hawse_runtime.code.host import bundles, deno_fence, ipykernel_setup
from hawse_runtime.code.host.deno_fence import Fence
from hawse_runtime.code.host.kernel_process import KernelProcess, ProcessEnded
from hawse_runtime.code.host.kernel_run import KernelRun
from hawse_runtime.code.host.outbox import Outbox
from hawse_runtime.code.host_protocol import (
    BUNDLES,
    STDERR,
    STDOUT,
    Execute,
    Exited,
    Failure,
    Kernel as KernelReply,
    RunDone,
    RunEvent,
    Start,
    without_lone_surrogates,
)

log = logging.getLogger(__name__)

PROBE = 0.25  # seconds between checks that a new kernel's output arrives
LATE = 10.0  # seconds without output, after the reply to a run, until the run counts as ended
QUIET = 0.05  # seconds to wait for more output from a process that has exited
BATCH = 64  # number of messages from a kernel handled per event loop iteration
SIGNATURE, HEADER, PARENT, METADATA, CONTENT = range(5)  # the parts of a message that follow the identities
LOST = Failure(code="exited", message="the executor has ended")

# Code to run in each Python kernel. Errors are ignored, because the kernel must start even if it isn't ipykernel.
SETUP = f"""
try:
    exec({Path(__file__).with_name("ipykernel_setup.py").read_text()!r}, _setup := {{}})
    _setup["set_up"](get_ipython())
except Exception:
    pass
finally:
    del _setup
"""

# Code to run in new kernels with these names. bash_kernel reads from a terminal. If it reads a carriage return
# separately from the line feed, the carriage return shows up in the output.
SETUPS = {deno_fence.KERNEL: deno_fence.SETUP, "bash": "stty -onlcr"}

_encode = msgspec.json.Encoder().encode


class _Header(msgspec.Struct):
    msg_id: str = ""
    msg_type: str = ""


_header = msgspec.json.Decoder(_Header)


class Message(msgspec.Struct, frozen=True):
    """A message from a kernel: its type, its parent request's id, and its content as JSON."""

    type: str
    parent: str
    content: bytes


class KernelFailed(Exception):
    """Raised when a kernel fails to start. `failure` contains the reason."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class HostedKernel:
    """A kernel, along with its runs and the other requests to it."""

    def __init__(self, number: int, name: str, language: str, process: KernelProcess, outbox: Outbox) -> None:
        """Create a kernel that has not been started.

        Args:
            number: The executor's number.
            name: The kernel's name.
            language: The kernel's language.
            process: The kernel's process, which hasn't been started.
            outbox: Sends messages to the runtime.
        """
        self.number = number
        self.process = process
        self.flowing = asyncio.Event()  # set while the runtime is accepting output
        self.flowing.set()
        self._name = name
        self._language = language
        self._outbox = outbox
        self._runs: dict[str, KernelRun] = {}  # keyed by request id
        self._replies: dict[str, asyncio.Future[Any]] = {}  # replies to other requests, keyed by request id
        self._output_seen = asyncio.Event()
        self._set_up = asyncio.Event()  # set once the setup code has run
        self._fenced = False  # whether runs need a fence
        # Whether each prompt has a mark in the output.
        self._marked = False
        self._tasks: list[asyncio.Task[None]] = []

    # ---- lifetime

    async def start(self, request: Start, group: asyncio.TaskGroup) -> KernelReply:
        """Start the process and wait until it answers. Its messages are read by tasks in `group`.

        Raises:
            KernelFailed: The process exited or didn't answer in time. It has been killed.
        """
        process = self.process
        try:
            async with asyncio.timeout(request.timeout):
                await process.launch(request)
                for socket, receive in (
                    (process.shell, self._receive_reply),
                    (process.stdin, self._receive_input_request),
                    (process.iopub, self._receive_output),
                ):
                    self._tasks.append(group.create_task(self._read(socket, receive)))
                await self._wait_until_ready()
        except TimeoutError:
            raise self._failed(f"no answer within {request.timeout:g} s") from None
        except (OSError, RuntimeError, ValueError, ProcessEnded) as error:
            raise self._failed(str(error)) from None
        return KernelReply(kernel=self._name, language=self._language, pid=process.pid, memory=process.memory)

    async def _wait_until_ready(self) -> None:
        process = self.process
        await process.unless_ended(process.connect_stdin())
        await process.unless_ended(self.ask("kernel_info_request", {}))
        while not self._output_seen.is_set():  # the subscription may have missed the kernel's first output
            await process.unless_ended(self.ask("kernel_info_request", {}))
            with suppress(TimeoutError):
                async with asyncio.timeout(PROBE):
                    await self._output_seen.wait()
        setup = SETUPS.get(self._name, SETUP if self._language == "python" else "")
        if setup:
            request = self._execute(setup, silent=True, stdin=False, store_history=False)
            self._runs[request] = KernelRun(0, silent=True)
            await process.unless_ended(self._set_up.wait())

    def _failed(self, reason: str) -> "KernelFailed":
        self.process.kill()
        tail = self.process.last_words()
        text = bundles.plain(f"kernel {self._name} failed to start: {reason}" + (f"\n{tail}" if tail else ""))
        return KernelFailed(Failure(code="spawn_failed", message=text))

    async def ended(self) -> Exited:
        """Wait until the process has exited and its output has been sent. Return the exit status."""
        await self.process.has_ended.wait()
        code = self.process.wait()
        with suppress(TimeoutError):
            while True:
                self._output_seen.clear()
                async with asyncio.timeout(QUIET):
                    await self._output_seen.wait()
        if code >= 0:
            return Exited(executor=self.number, code=code)
        return Exited(executor=self.number, signal=-code)

    def close(self) -> None:
        """Stop reading, close the sockets and fail all requests."""
        for task in self._tasks:
            task.cancel()
        self.process.close()
        for reply in self._replies.values():
            if not reply.done():
                reply.set_exception(KernelFailed(LOST))

    # ---- requests

    def execute(self, request: Execute) -> None:
        """Run code, and send its output and the end of the run to the runtime."""
        message = self._execute(
            request.source, silent=request.silent, stdin=request.stdin, store_history=request.store_history
        )
        self._runs[message] = KernelRun(request.run)

    def _execute(self, source: str, *, silent: bool, stdin: bool, store_history: bool) -> str:
        content = {
            "code": source,
            "silent": silent,
            "store_history": store_history and not silent,
            "user_expressions": {},
            "allow_stdin": stdin,
            "stop_on_error": False,
        }
        return self._send(self.process.shell, "execute_request", content)

    async def ask(self, kind: str, content: dict[str, Any]) -> Any:
        """Send a request on the shell channel and return the reply's content. Raises `KernelFailed`."""
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        number = self._send(self.process.shell, kind, content)
        self._replies[number] = reply
        try:
            return await reply
        finally:
            del self._replies[number]

    async def interrupt(self, run: int) -> None:
        """Interrupt the run with this number if it is in progress."""
        if any(known.number == run and not known.idle for known in self._runs.values()):
            await self.process.interrupt()

    def answer(self, run: int, value: str) -> None:
        """Send a line of input to a run."""
        self._send(self.process.stdin, "input_reply", {"value": value})

    def _send(self, socket: zmq.asyncio.Socket, kind: str, content: dict[str, Any]) -> str:
        sent = self.process.session.send(cast(Any, socket), kind, content)
        assert sent is not None
        number: str = sent["header"]["msg_id"]
        return number

    # ---- received messages

    async def _read(self, socket: zmq.asyncio.Socket, receive: Callable[[Message], Awaitable[None]]) -> None:
        count = 0
        while True:
            parts = await socket.recv_multipart()
            if (message := self._parsed(parts)) is not None:
                await receive(message)
            count += 1
            if count % BATCH == 0:
                await asyncio.sleep(0)

    def _parsed(self, parts: list[bytes]) -> Message | None:
        try:
            body = cast(list[bytes], self.process.session.feed_identities(parts)[1])
            if not hmac.compare_digest(self.process.session.sign(body[HEADER : CONTENT + 1]), body[SIGNATURE]):
                return None
            parent = _header.decode(body[PARENT]) if body[PARENT] != b"{}" else _Header()
            content = without_lone_surrogates(body[CONTENT])
            return Message(_header.decode(body[HEADER]).msg_type, parent.msg_id, content)
        except (ValueError, IndexError) as error:
            log.warning("! kernel %s sent an invalid message: %s", self._name, error)
            return None

    async def _receive_reply(self, message: Message) -> None:
        content = bundles.decode(message.content)
        if (run := self._runs.get(message.parent)) is not None:
            if run.reply is not None:  # this is the reply to the fence
                return
            run.reply = content if isinstance(content, dict) else {}
            if self._fenced:
                run.idle, run.fence = False, Fence()
                self._runs[self._execute(run.fence.source, silent=True, stdin=False, store_history=False)] = run
            if run.idle:
                await self._finish(run)
            else:
                asyncio.get_running_loop().call_later(LATE, self._look_for_end, run)
        elif (waiting := self._replies.get(message.parent)) is not None and not waiting.done():
            waiting.set_result(content)

    def _look_for_end(self, run: KernelRun) -> None:
        """End a run whose last message was lost. Kernels drop messages they can't send."""
        if run not in self._runs.values():
            return
        silent = time.monotonic() - run.seen
        if silent >= LATE and self.flowing.is_set():
            self._outbox.start(self._finish(run))
        else:
            wait = LATE - silent if silent < LATE else LATE  # the outbox has been paused for an unknown length of time
            asyncio.get_running_loop().call_later(wait, self._look_for_end, run)

    async def _receive_input_request(self, message: Message) -> None:
        run = self._runs.get(message.parent)
        if run is not None:
            run.questions.append(bundles.prompt(_object(message.content)))
            await self._ask_client(run)

    async def _ask_client(self, run: KernelRun) -> None:
        """Send prompts whose marks have been received, because by then all earlier output has been sent."""
        while (question := run.next_question(marked=self._marked)) is not None:
            await self._event(run, "input", question)

    async def _receive_output(self, message: Message) -> None:
        self._output_seen.set()
        run = self._runs.get(message.parent)
        if run is None:
            return
        run.seen = time.monotonic()
        await self.flowing.wait()
        try:
            if run.fence is None:
                await self._output(run, message)
                return
            if (rest := _before_fence(message, run.fence)) is not None:
                await self._output(run, rest)
            if run.fence.passed:
                await self._finish(run)
        except ValueError as error:
            log.warning("! kernel %s sent an invalid %s: %s", self._name, message.type, error)

    async def _output(self, run: KernelRun, message: Message) -> None:
        match message.type:
            case "stream":
                content = _object(message.content, "surrogateescape")
                kind = STDERR if content.get("name") == "stderr" else STDOUT
                text = content.get("text")
                if isinstance(text, str) and not run.silent:
                    await self._bytes(kind, run, bundles.stream_bytes(text))
            case "execute_result":
                await self._bundle(run, "value", message.content)
            case "display_data":
                await self._bundle(run, "display", message.content)
            case "update_display_data":
                await self._bundle(run, "update", message.content)
            case "clear_output":
                await self._event(run, "clear", {"wait": _object(message.content).get("wait") is True})
            case "error":
                name, value, traceback = bundles.error(_object(message.content))
                await self._event(run, "raised", {"name": name, "value": value, "traceback": traceback})
            case ipykernel_setup.MARK if run.silent:
                self._marked = True
            case ipykernel_setup.MARK:
                run.marks += 1
                await self._ask_client(run)
            case "status":
                if run.fence is None and _object(message.content).get("execution_state") == "idle":
                    run.idle = True
                    if run.reply is not None:
                        await self._finish(run)

    async def _bundle(self, run: KernelRun, name: str, content: bytes) -> None:
        bundle = bundles.bundle(content)
        large = []
        for value in bundle.large:
            large.append({"type": value.type, "offset": run.bundles, "size": len(value.data), "form": value.form})
            await self._bytes(BUNDLES, run, value.data)
            run.bundles += len(value.data)
        if large:
            bundle.event["large"] = large
        await self._event(run, name, bundle.event)

    async def _bytes(self, kind: int, run: KernelRun, data: bytes) -> None:
        await self._outbox.send_output(kind, run.number, data, self.flowing)

    async def _event(self, run: KernelRun, name: Any, value: dict[str, Any]) -> None:
        if not run.silent:
            await self._outbox.send(RunEvent(run=run.number, name=name, value=msgspec.Raw(_encode(value))))

    async def _finish(self, run: KernelRun) -> None:
        if run not in self._runs.values():
            return
        self._runs = {request: other for request, other in self._runs.items() if other is not run}
        reply = run.reply or {}
        if run.silent:
            self._fenced = self._name == deno_fence.KERNEL and reply.get("status") == "ok"
            self._set_up.set()
            return
        for payload in reply.get("payload") or ():  # contains text to display, for example from a help command
            if isinstance(payload, dict) and payload.get("source") == "page" and isinstance(payload.get("data"), dict):
                await self._bundle(run, "display", _encode({"data": payload["data"]}))
        count = reply.get("execution_count")
        ok = reply.get("status") == "ok"
        await self._outbox.send(
            RunDone(
                run=run.number,
                ok=ok,
                execution_count=count if isinstance(count, int) else None,
                error=None if ok else bundles.error(reply),
                seconds=time.monotonic() - run.started,
            )
        )


def _before_fence(message: Message, fence: Fence) -> Message | None:
    """Return a message without the fence's mark, or None if nothing is left."""
    content = fence.without_mark(message.type, message.content)
    return None if content is None else Message(message.type, message.parent, content)


def _object(content: bytes, errors: Literal["replace", "surrogateescape"] = "replace") -> dict[str, Any]:
    value = bundles.decode(content, errors)
    return value if isinstance(value, dict) else {}
