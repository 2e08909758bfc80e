"""Serves the runtime's requests on the inherited socket."""

import asyncio
import logging
import resource
import socket
from collections.abc import Coroutine, Sequence
from typing import Any

import msgspec
import zmq
import zmq.asyncio

from hawse_runtime.code.host import bundles
from hawse_runtime.code.host.kernel import HostedKernel, KernelFailed
from hawse_runtime.code.host.kernel_process import KernelProcess
from hawse_runtime.code.host.languages import Languages, Unavailable
from hawse_runtime.code.host.outbox import Outbox
from hawse_runtime.code.host_protocol import (
    MESSAGE_LIMIT,
    AnswerInput,
    Ask,
    Execute,
    Failure,
    FromRuntime,
    Interrupt,
    ListLanguages,
    Pause,
    Reply,
    Resume,
    Start,
    Stop,
    from_runtime,
    split,
)
from hawse_runtime.core.framing import FrameDecoder

log = logging.getLogger(__name__)

READ = 256 << 10  # bytes per read
# Maximum number of ZeroMQ sockets; each kernel has four, and the number of kernels is not limited.
SOCKETS = 65_536
REPLY_LIMIT = 512 << 10  # maximum size of a reply, in bytes; larger ones are sent empty to fit into a control message
ENDED = Failure(code="exited", message="the executor has ended")


async def serve(connection: socket.socket, folder: str, python: Sequence[str]) -> None:
    """Handle requests until the runtime closes the connection, then kill all kernels.

    Args:
        connection: The socket connected to the runtime.
        folder: A private directory for sockets and connection files.
        python: The command for running a module in this interpreter.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    context = zmq.asyncio.Context.instance()
    context.set(zmq.MAX_SOCKETS, SOCKETS)
    reader, writer = await asyncio.open_unix_connection(sock=connection)
    try:
        async with asyncio.TaskGroup() as group:
            host = Host(group, writer, folder, Languages(python))
            try:
                await host.receive(reader)
            finally:
                host.close()
    finally:
        writer.close()
        context.destroy(linger=0)


class Host:
    """The kernels, keyed by executor number."""

    def __init__(
        self, group: asyncio.TaskGroup, writer: asyncio.StreamWriter, folder: str, languages: Languages
    ) -> None:
        self._group = group
        self._folder = folder
        self._outbox = Outbox(writer, self._start)
        self._languages = languages
        self._kernels: dict[int, HostedKernel] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def receive(self, reader: asyncio.StreamReader) -> None:
        """Handle requests until the connection is closed."""
        decoder = FrameDecoder(MESSAGE_LIMIT)
        while data := await reader.read(READ):
            for message in decoder.feed(data):
                self._handle(from_runtime.decode(split(message)[2]))

    def close(self) -> None:
        """Kill all kernels and end all tasks."""
        for kernel in self._kernels.values():
            kernel.process.kill()
            kernel.close()
        for task in self._tasks:
            task.cancel()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._group.create_task(self._guarded(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` and log exceptions, because a kernel's failure must not end the host."""
        try:
            await work
        except (ConnectionError, KernelFailed):
            pass  # the runtime or the kernel has exited
        except Exception:
            log.exception("! a task of the kernel host failed")

    def _handle(self, request: FromRuntime) -> None:
        match request:
            case Start():
                self._start(self._run_kernel(request))
            case ListLanguages(request=number):
                self._start(self._list_languages(number))
            case Ask():
                self._start(self._ask(request))
            case _:
                kernel = self._kernels.get(request.executor)
                if kernel is not None:
                    self._pass_on(kernel, request)

    def _pass_on(self, kernel: HostedKernel, request: FromRuntime) -> None:
        match request:
            case Execute():
                kernel.execute(request)
            case Interrupt(run=run):
                self._start(kernel.interrupt(run))
            case AnswerInput(run=run, value=value):
                kernel.answer(run, value)
            case Pause():
                kernel.flowing.clear()
            case Resume():
                kernel.flowing.set()
            case Stop():
                kernel.process.kill()

    async def _run_kernel(self, request: Start) -> None:
        """Start a kernel, and report its start and its exit."""
        try:
            found = self._languages.find(request.language, request.kernel)
            process = KernelProcess(request.executor, found, self._languages, self._folder)
            kernel = HostedKernel(request.executor, found.name, found.language, process, self._outbox)
            self._kernels[request.executor] = kernel
            try:
                started = await kernel.start(request, self._group)
                await self._outbox.send(Reply(request=request.request, value=msgspec.Raw(msgspec.json.encode(started))))
                ended = await kernel.ended()
            finally:
                del self._kernels[request.executor]
                kernel.close()
            await self._outbox.send(ended)
        except (Unavailable, KernelFailed) as error:
            await self._outbox.send(Reply(request=request.request, failure=error.failure))

    async def _list_languages(self, number: int) -> None:
        await self._outbox.send(Reply(request=number, value=msgspec.Raw(msgspec.json.encode(self._languages.all()))))

    async def _ask(self, request: Ask) -> None:
        kernel = self._kernels.get(request.executor)
        if kernel is None:
            await self._outbox.send(Reply(request=request.request, failure=ENDED))
            return
        try:
            content = await kernel.ask(request.method, request.content)
        except KernelFailed as error:
            await self._outbox.send(Reply(request=request.request, failure=error.failure))
        else:
            value = msgspec.json.encode(bundles.inspected(content) if isinstance(content, dict) else {})
            if len(value) > REPLY_LIMIT:
                value = b"{}"
            await self._outbox.send(Reply(request=request.request, value=msgspec.Raw(value)))
