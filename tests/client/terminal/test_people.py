"""Who is at a terminal: what is told, and what was missed while the line was cut."""

from typing import Any

from hawse.client import Attached, Joined, LeaseChanged, LeaseInfo, Left, ParticipantInfo, PresenceChanged
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.terminal.attach import LANE, TerminalAttachCall
from tests.support.client import MemoryLine
from tests.support.examples import OPENED, PERSON

ADA = PERSON | {"name": "Ada"}
BOB = ADA | {"id": "v2", "name": "Bob", "kind": "agent", "at": {"x": 3, "y": 4}}
FREE = {"mode": "free", "holder": None, "epoch": 0}
HELD = {"mode": "exclusive", "holder": "v2", "epoch": 1}


class View:
    def __init__(self, *, read_only: bool = False) -> None:
        self.calls = CallTable(Options(dice=lambda: 0.0))
        self.call = TerminalAttachCall(
            "local",
            "main",
            instance=None,
            since=None,
            read_only=read_only,
            lossless=False,
            name="Ada",
            kind="person",
            window=10_000,
        )
        self.people = self.call.people
        self.connect()

    def connect(self) -> None:
        self.line = MemoryLine(self.calls)
        if not self.call.sent:
            self.calls.submit(self.call)
        self.line.pump()

    def opened(self, start_at: str = "start", **more: Any) -> None:
        value = OPENED | {"id": "main", "instance": "i1", "start_at": start_at}
        self.line.event("opened", value | more)

    async def taken(self) -> list[Any]:
        self.call.inbox.put(LANE, "stop")
        items: list[Any] = []
        while (item := (await self.call.inbox.get())[1]) != "stop":
            items.append(item)
        return [item for item in items if not isinstance(item, Attached)]


def bob(**more: Any) -> ParticipantInfo:
    return ParticipantInfo(**{"id": "v2", "name": "Bob", "color": "#5ad1c8", "kind": "agent", "at": (3, 4)} | more)


async def test_it_introduces_itself_by_a_key_that_stays() -> None:
    view = View(read_only=True)
    first = view.line.params
    assert first["viewer"] == {"key": view.call.viewer_key, "name": "Ada", "kind": "person"}
    assert first["read_only"] is True
    view.opened()
    view.calls.line_down()
    view.connect()
    assert view.line.params["viewer"] == first["viewer"]
    assert View().call.viewer_key != view.call.viewer_key


async def test_who_is_there_at_first_is_a_list_and_what_changes_are_items() -> None:
    view = View()
    view.opened(viewer="v1", presence=[ADA, BOB], lease=FREE)
    assert await view.taken() == []
    assert view.people.me == "v1"
    assert view.people.viewers["v2"] == bob()
    view.line.event("presence", {"viewer": BOB | {"typing": True, "at": None}})
    view.line.event("lease", HELD | {"applied": 12})
    view.line.event("left", {"id": "v2"})
    view.line.event("joined", {"viewer": BOB})
    assert await view.taken() == [
        PresenceChanged(bob(typing=True, at=None)),
        LeaseChanged(LeaseInfo("v2", 1), 12),
        Left(bob(typing=True, at=None)),
        Joined(bob()),
    ]
    assert view.people.lease == LeaseInfo("v2", 1)


async def test_what_was_missed_is_told_after_a_reattach() -> None:
    view = View()
    view.opened(viewer="v1", presence=[ADA, BOB], lease=FREE)
    view.calls.line_down()
    view.connect()
    eve = ADA | {"id": "v3", "name": "Eve"}
    view.opened(viewer="v1", presence=[ADA | {"name": "A."}, eve], lease=HELD | {"holder": "v3"}, input_offset=0)
    names = [(type(item).__name__, getattr(item, "viewer", None) and item.viewer.name) for item in await view.taken()]
    assert names == [("Left", "Bob"), ("PresenceChanged", "A."), ("Joined", "Eve"), ("LeaseChanged", None)]


async def test_an_older_server_knows_nobody() -> None:
    view = View()
    older = {name: value for name, value in OPENED.items() if name not in ("viewer", "presence", "lease")}
    view.line.event("opened", older)
    assert (view.people.me, view.people.viewers, view.people.lease) == (None, {}, LeaseInfo())
    view.line.event("left", {"id": "v9"})
    assert await view.taken() == []
