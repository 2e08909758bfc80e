"""Runs inside a Python kernel once it has started, to make its output complete. Imports nothing from this project.

`set_up` fixes the following bugs in ipykernel. It does nothing in other kernels.

- ipykernel drops messages when more than 1,000 are waiting to be sent.
- ipykernel ends a run before it has read all output that child processes wrote to file descriptors 1 and 2. It
  decodes that output in pieces of 1,000 bytes, which splits characters.
- A prompt from `input` can overtake output, because prompts and output use different sockets. The fix sends a mark in
  the output where the prompt belongs.
- `flush` returns before ipykernel's output thread has sent the output. The output is lost if the process is killed at
  that moment.
- A message with a lone surrogate (half an emoji) can't be encoded and is lost.
"""

import codecs
import fcntl
import os
import re
import select
import struct
import sys
import termios
import threading
from collections.abc import Callable
from typing import Any

MARK = "hawse_input"  # type of the output message that marks the position of a prompt
SIZE = 65_536  # number of bytes read at a time
PATIENCE = 1.0  # seconds to wait for another thread


class Watcher:
    """Reads output written to a file descriptor, in place of the thread in ipykernel's `OutStream`."""

    def __init__(self, stream: Any) -> None:
        """Stop the thread of `stream`, and start another thread to read the stream's pipe."""
        self._stream = stream
        self._fd: int = stream._fid
        self._lock = threading.Lock()
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        stream._should_watch = False
        os.write(stream._original_stdstream_fd, b"\0")  # wakes the thread, which then exits
        stream.watch_fd_thread.join(PATIENCE)
        threading.Thread(target=self._watch, name=f"watch-{stream.name}", daemon=True).start()

    def drain(self) -> None:
        """Forward everything written so far."""
        if self._lock.acquire(timeout=PATIENCE):
            try:
                while self._unread():
                    self._read()
            finally:
                self._lock.release()

    def _watch(self) -> None:
        while True:
            select.select([self._fd], [], [])
            with self._lock:
                if self._unread():
                    self._read()

    def _unread(self) -> int:
        size: int = struct.unpack("i", fcntl.ioctl(self._fd, termios.FIONREAD, b"\0" * 4))[0]
        return size

    def _read(self) -> None:
        self._stream.write(self._decoder.decode(os.read(self._fd, SIZE)))


PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
LONE = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # excludes the range of `surrogateescape`, which represents bytes


def sendable(value: Any) -> Any:
    """Return a JSON value with each half of an incomplete surrogate pair replaced by U+FFFD."""
    if isinstance(value, str):
        whole = PAIR.sub(lambda found: found[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le"), value)
        return LONE.sub("\ufffd", whole)
    if isinstance(value, dict):
        return {sendable(key): sendable(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [sendable(each) for each in value]
    return value


def complete(pack: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    """Wrap `pack` so that it can encode messages with arbitrary text."""

    def packed(message: Any) -> bytes:
        try:
            return pack(message)
        except UnicodeEncodeError:
            return pack(sendable(message))

    return packed


class CompleteFlush:
    """A replacement for a stream's `flush` that returns once ZeroMQ has written all output.

    A single ZeroMQ thread writes for all of a context's sockets, in order. Once a message has passed from one socket to
    another, all earlier messages have been written to the kernel host's socket.
    """

    def __init__(self, thread: Any) -> None:
        """Connect a pair of sockets in the output thread."""
        self._thread = thread
        self._process = os.getpid()
        self._sockets: tuple[Any, Any] | None = None
        thread.schedule(self._connect)

    def of(self, stream: Any) -> Callable[[], None]:
        """Return the replacement for a stream's `flush`."""
        flush = stream.flush
        schedule = self._thread.schedule

        def complete() -> None:
            if os.getpid() != self._process or threading.current_thread() is self._thread.thread:
                flush()  # in a forked process, ipykernel sends output differently
                return
            passed = threading.Event()
            schedule(stream._flush)  # schedules a message to be sent
            schedule(lambda: schedule(lambda: self._pass(passed)))  # runs once the scheduled message has been sent
            passed.wait(PATIENCE)

        return complete

    def _connect(self) -> None:
        import zmq

        address = f"ipc://@hawse-flush-{os.getpid()}-{os.urandom(8).hex()}"
        sender, receiver = (self._thread.socket.context.socket(zmq.PAIR, socket_class=zmq.Socket) for _ in range(2))
        sender.linger, receiver.linger, receiver.rcvtimeo = 0, 0, int(PATIENCE * 1000)
        receiver.bind(address)
        sender.connect(address)
        self._sockets = sender, receiver

    def _pass(self, passed: threading.Event) -> None:
        try:
            if self._sockets is not None:
                sender, receiver = self._sockets
                sender.send(b"")
                receiver.recv()
        finally:
            passed.set()


def set_up(shell: Any) -> None:
    """Modify an IPython shell's kernel."""
    import zmq

    thread = shell.kernel.iopub_thread
    thread.schedule(lambda: thread.socket.setsockopt(zmq.SNDHWM, 0))
    watchers = [Watcher(stream) for stream in (sys.stdout, sys.stderr)]
    flushes = CompleteFlush(thread)
    for stream in (sys.stdout, sys.stderr):
        stream.flush = flushes.of(stream)  # type: ignore[method-assign]
    master = os.getpid()

    def drain() -> None:
        if os.getpid() == master:  # a forked process must not forward output
            for watcher in watchers:
                watcher.drain()

    shell.events.register("post_execute", drain)

    kernel = shell.kernel
    kernel.session.pack = complete(kernel.session.pack)
    ask = kernel._input_request

    def mark(parent: Any) -> None:
        kernel.session.send(kernel.iopub_socket, MARK, {}, parent=parent)

    def marked(prompt: Any, ident: Any, parent: Any, *rest: Any, **options: Any) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        mark(parent)
        return ask(prompt, ident, parent, *rest, **options)

    kernel._input_request = marked
    mark(kernel.get_parent("shell"))  # tells the host that every prompt has a mark
