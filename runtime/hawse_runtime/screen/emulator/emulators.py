"""A screen process's screens. Handles the runtime's requests without doing any I/O."""

from collections.abc import Callable
from typing import cast

import msgspec

from hawse.api.terminals import ScreenFormat
from hawse.wire import HawseError
from hawse_runtime.screen.emulator.formats import view
from hawse_runtime.screen.emulator.key_encoder import encode_keys, encode_paste
from hawse_runtime.screen.emulator.screen import Screen
from hawse_runtime.screen.requests import (
    Answer,
    AnyRequest,
    Close,
    Feed,
    Keys,
    Open,
    Paint,
    Refusal,
    Resize,
    Show,
    Text,
)


class Emulators:
    """The open screens, keyed by number."""

    def __init__(self) -> None:
        self._screens: dict[int, _Answering] = {}

    def __len__(self) -> int:
        return len(self._screens)

    def handle(self, request: AnyRequest) -> Answer:
        """Handle one request. Errors are returned in the response."""
        try:
            if isinstance(request, Open):
                return self._open(request)
            found = self._screens[request.screen]
            if isinstance(request, Close):
                del self._screens[request.screen]
                found.screen.close()
                return Answer()
            data = found.serve(request)
            return Answer(data, found.take_replies(), found.screen.whole, found.screen.calm)
        except HawseError as error:
            return Answer(refusal=Refusal(error.code, error.message, error.details))

    def _open(self, request: Open) -> Answer:
        earlier = self._screens.pop(request.screen, None)
        if earlier is not None:
            earlier.screen.close()
        opened = _Answering(request.cols, request.rows)
        self._screens[request.screen] = opened
        opened.screen.feed(request.data)
        opened.take_replies()
        return Answer(whole=opened.screen.whole, calm=opened.screen.calm)

    def close(self) -> None:
        for found in self._screens.values():
            found.screen.close()
        self._screens.clear()


class _Answering:
    """A screen, along with its pending answers to queries."""

    def __init__(self, cols: int, rows: int) -> None:
        self._replies: list[bytes] = []
        self.screen = Screen(cols, rows, reply=self._replies.append)

    def take_replies(self) -> bytes:
        replies = b"".join(self._replies)
        self._replies.clear()
        return replies

    def serve(self, request: AnyRequest) -> bytes:
        """Handle a request and return its data."""
        screen = self.screen
        match request:
            case Feed(data=data, answers=answers):
                return self._muted(lambda: screen.feed(data), answers)
            case Resize(cols=cols, rows=rows, answers=answers):
                return self._muted(lambda: screen.resize(cols, rows), answers)
            case Paint(scrollback=scrollback):
                return screen.snapshot(scrollback)
            case Show(form=form, scrollback=scrollback):
                return _show(screen, form, scrollback)
            case Text():
                return screen.text().encode(errors="replace")
            case Keys(paste=paste, keys=keys):
                pasted = encode_paste(paste, screen.emulator) if paste else b""
                return pasted + encode_keys(keys, screen.emulator)
        raise AssertionError(request)

    def _muted(self, change: Callable[[], None], answers: bool) -> bytes:
        change()
        if not answers:
            self._replies.clear()
        return b""


def _show(screen: Screen, form: str, scrollback: int) -> bytes:
    steps = view(screen.emulator, cast(ScreenFormat, form), scrollback)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return msgspec.json.encode(end.value)
