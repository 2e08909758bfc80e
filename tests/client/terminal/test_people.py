"""The participants of a terminal: their changes, also those missed without a connection."""

from typing import Any

import msgspec

from hawse.api.people import Participant, ViewerProfile, WriterLease
from hawse.api.terminals import TerminalAttach
from hawse.client import Attached, Joined, LeaseChanged, Left, PresenceChanged
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.terminal.attach import LANE, TerminalAttachCall
from tests.support.client import MemoryConnection
from tests.support.examples import OPENED, PERSON

ADA = PERSON | {"name": "Ada"}
BOB = ADA | {"id": "v2", "name": "Bob", "kind": "agent", "at": {"x": 3, "y": 4}}
FREE = {"mode": "free", "holder": None, "epoch": 0}
HELD = {"mode": "exclusive", "holder": "v2", "epoch": 1}


class View:
    def __init__(self, *, read_only: bool = False) -> None:
        self.calls = CallTable(Options(dice=lambda: 0.0))
        viewer = ViewerProfile(key="secret", name="Ada", kind="person")
        params = TerminalAttach(id="main", read_only=read_only or None, viewer=viewer)
        self.call = TerminalAttachCall(params, sandbox="local", window=10_000)
        self.people = self.call.people
        self.connect()

    def connect(self) -> None:
        self.connection = MemoryConnection(self.calls)
        if not self.call.sent:
            self.calls.submit(self.call)
        self.connection.pump()

    def opened(self, start_at: str = "start", **more: Any) -> None:
        value = OPENED | {"id": "main", "instance": "i1", "start_at": start_at}
        self.connection.event("opened", value | more)

    async def taken(self) -> list[Any]:
        self.call.receive_buffer.put(LANE, "stop")
        items: list[Any] = []
        while (item := (await self.call.receive_buffer.get())[1]) != "stop":
            items.append(item)
        return [item for item in items if not isinstance(item, Attached)]


def bob(**more: Any) -> Participant:
    return msgspec.convert(BOB | more, Participant)


async def test_it_introduces_itself_by_a_key_that_stays() -> None:
    view = View(read_only=True)
    first = view.connection.params
    assert first["viewer"] == {"key": "secret", "name": "Ada", "kind": "person"}
    assert first["read_only"] is True
    view.opened()
    view.calls.disconnected()
    view.connect()
    assert view.connection.params["viewer"] == first["viewer"]


async def test_the_first_viewers_are_a_list_and_changes_are_items() -> None:
    view = View()
    view.opened(viewer="v1", presence=[ADA, BOB], lease=FREE)
    assert await view.taken() == []
    assert view.people.me == "v1"
    assert view.people.viewers["v2"] == bob()
    view.connection.event("presence", {"viewer": BOB | {"typing": True, "at": None}})
    view.connection.event("lease", HELD | {"applied": 12})
    view.connection.event("left", {"id": "v2"})
    view.connection.event("joined", {"viewer": BOB})
    assert await view.taken() == [
        PresenceChanged(bob(typing=True, at=None)),
        LeaseChanged(WriterLease(mode="exclusive", holder="v2", epoch=1), 12),
        Left(bob(typing=True, at=None)),
        Joined(bob()),
    ]
    assert view.people.lease == WriterLease(mode="exclusive", holder="v2", epoch=1)


async def test_missed_changes_are_items_after_a_reattach() -> None:
    view = View()
    view.opened(viewer="v1", presence=[ADA, BOB], lease=FREE)
    view.calls.disconnected()
    view.connect()
    eve = ADA | {"id": "v3", "name": "Eve"}
    view.opened(viewer="v1", presence=[ADA | {"name": "A."}, eve], lease=HELD | {"holder": "v3"}, input_offset=0)
    names = [(type(item).__name__, getattr(item, "viewer", None) and item.viewer.name) for item in await view.taken()]
    assert names == [("Left", "Bob"), ("PresenceChanged", "A."), ("Joined", "Eve"), ("LeaseChanged", None)]


async def test_a_server_without_presence_has_no_viewers() -> None:
    view = View()
    older = {name: value for name, value in OPENED.items() if name not in ("viewer", "presence", "lease")}
    view.connection.event("opened", older)
    assert (view.people.me, view.people.viewers, view.people.lease) == (None, {}, WriterLease(mode="free", epoch=0))
    view.connection.event("left", {"id": "v9"})
    assert await view.taken() == []
