"""A fake `ScreenProcess` that serves requests immediately, in the test's process."""

from collections.abc import Callable

from hawse_runtime.journal.journal import Journal
from hawse_runtime.screen.emulator.emulators import Emulators
from hawse_runtime.screen.requests import Answer, AnyRequest, Feed
from hawse_runtime.screen.screen_process import ScreenClient
from hawse_runtime.screen.screen_tracker import ALL, ScreenTracker
from hawse_runtime.screen.size_history import SizeHistory, SizeMark
from hawse_runtime.screen.snapshot_cache import CachedSnapshot


class LocalScreens:
    """A `Screens`. While it is `held`, requests are not answered; `crash` loses them."""

    def __init__(self) -> None:
        self.available = True
        self.requests: list[AnyRequest] = []  # all requests sent
        self.emulators = Emulators()
        self.crashes_at: Callable[[AnyRequest], bool] = lambda request: False
        self._number = 0
        self._held: list[tuple[AnyRequest, Callable[[Answer], None]]] | None = None
        self._clients: dict[ScreenClient, None] = {}
        self._crashed: list[ScreenClient] = []

    @property
    def fed(self) -> int:
        """Bytes of output that the screens have read."""
        return sum(len(request.data) for request in self.requests if isinstance(request, Feed))

    def new_number(self) -> int:
        self._number += 1
        return self._number

    def take_turn(self, client: ScreenClient) -> bool:
        return not self._crashed

    def send(self, client: ScreenClient, request: AnyRequest, done: Callable[[Answer], None]) -> None:
        self._clients[client] = None
        self.requests.append(request)
        if self.crashes_at(request):
            self._crashed.append(client)
        elif self._held is not None:
            self._held.append((request, done))
        else:
            done(self.emulators.handle(request))

    def leave(self, client: ScreenClient) -> None:
        self._clients.pop(client, None)

    def hold(self) -> None:
        """Stop answering requests until `release`."""
        self._held = []

    def release(self) -> None:
        held, self._held = self._held or [], None
        for request, done in held:
            done(self.emulators.handle(request))

    def crash(self) -> None:
        """Lose all screens and requests."""
        at_fault, self._crashed = self._crashed, []
        self._held = None
        self.emulators.close()
        for client in list(self._clients):
            client.lost(at_fault=client in at_fault)
        for client in list(self._clients):
            client.proceed()

    def crash_while_asked(self) -> int:
        """Crash again for as long as requests hit a crashed process; return the number of crashes."""
        count = 0
        while self._crashed:
            count += 1
            self.crash()
        return count


class Tracked:
    """A screen tracker with its journal, size history and screen."""

    def __init__(self, journal: Journal | None = None, cols: int = 80, rows: int = 24) -> None:
        self.journal = Journal() if journal is None else journal  # an empty one is false
        self.sizes = SizeHistory(cols, rows)
        self.screens = LocalScreens()
        self.replies: list[bytes] = []
        self.moves = 0
        self.tracker = ScreenTracker(
            self.journal, self.sizes, self.screens, reply=self.replies.append, moved=self._moved
        )

    def _moved(self) -> None:
        self.moves += 1

    def print(self, data: bytes, *, answered: int | None = None, portion: int = 64 << 10) -> None:
        for at in range(0, len(data), portion):
            self.journal.append(data[at : at + portion])
            self.tracker.keep_near(answered)

    def resize(self, cols: int, rows: int) -> None:
        self.sizes.add(SizeMark(self.journal.end, cols, rows))

    def snapshot(self, scrollback: int = ALL) -> CachedSnapshot:
        """Return a snapshot that is available immediately."""
        made: list[CachedSnapshot] = []
        self.tracker.snapshot(scrollback, made.append)
        (snapshot,) = made
        return snapshot
