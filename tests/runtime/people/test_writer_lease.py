"""The writer lease: one writer at a time, fenced by an epoch."""

from typing import Any

import pytest

from hawse.api.people import WriterLease
from hawse.wire import HawseError
from hawse_runtime.people.presence import ViewerPresence
from hawse_runtime.people.writer_lease import WriterLeaseState
from tests.support.runtime import Channel, Client


def participant(name: str, *, read_only: bool = False) -> ViewerPresence:
    made = ViewerPresence(name, name, name, "#000", "person")
    made.read_only = read_only
    return made


ADA, BOB, CLEO = participant("ada"), participant("bob"), participant("cleo")


def refused(lease: WriterLeaseState, *arguments: Any) -> HawseError:
    before = lease.describe()
    with pytest.raises(HawseError) as caught:
        lease.change(*arguments)
    assert lease.describe() == before
    return caught.value


def test_every_participant_may_write_until_one_takes_the_lease() -> None:
    lease = WriterLeaseState()
    assert lease.describe() == WriterLease(mode="free", holder=None, epoch=0)
    assert lease.may_write(ADA)
    assert lease.may_write(None)
    lease.change("take", ADA)
    assert lease.describe() == WriterLease(mode="exclusive", holder="ada", epoch=1)
    assert [lease.may_write(each) for each in (ADA, BOB, None)] == [True, False, False]


def test_the_lease_can_be_taken_over_and_only_its_holder_can_release_it() -> None:
    lease = WriterLeaseState()
    lease.change("exclusive", ADA)
    assert refused(lease, "exclusive", BOB).code == "conflict"
    assert refused(lease, "release", BOB).details == {"mode": "exclusive", "holder": "ada", "epoch": 1}
    lease.change("take", BOB)
    assert lease.describe() == WriterLease(mode="exclusive", holder="bob", epoch=2)
    lease.change("free", ADA)
    assert lease.describe() == WriterLease(mode="free", holder=None, epoch=3)


def test_a_repeated_action_does_not_change_the_epoch() -> None:
    lease = WriterLeaseState()
    for action, epoch in [("release", 0), ("take", 1), ("take", 1), ("exclusive", 1), ("release", 2), ("free", 2)]:
        lease.change(action, ADA)  # type: ignore[arg-type]
        assert lease.epoch == epoch


def test_an_outdated_epoch_is_refused_with_the_present_state() -> None:
    lease = WriterLeaseState()
    lease.change("take", ADA, 0)
    error = refused(lease, "take", BOB, 0)
    assert (error.code, error.details) == ("conflict", {"mode": "exclusive", "holder": "ada", "epoch": 1})
    lease.change("take", BOB, 1)
    assert refused(lease, "release", ADA, 1).code == "conflict"


def test_read_only_viewers_cannot_change_the_lease_and_take_requires_a_viewer() -> None:
    lease = WriterLeaseState()
    for action in ("take", "exclusive", "free", "release"):
        assert refused(lease, action, participant("eve", read_only=True)).code == "forbidden"
    assert refused(lease, "take", None).code == "invalid_params"


def test_a_holder_that_leaves_releases_the_lease() -> None:
    lease = WriterLeaseState()
    lease.change("take", ADA)
    lease.remove(BOB)
    assert lease.holder is ADA
    lease.remove(ADA)
    assert lease.describe() == WriterLease(mode="free", holder=None, epoch=2)


def test_a_request_ends_when_the_holder_refuses_it_or_the_lease_changes() -> None:
    lease = WriterLeaseState()
    lease.change("ask", BOB)
    assert lease.asking == set()  # all may type
    lease.change("take", ADA)
    for participants, action in (({BOB}, "ask"), (set(), "withdraw"), ({BOB}, "ask")):
        lease.change(action, BOB)  # type: ignore[arg-type]
        assert lease.asking == participants
    lease.change("ask", CLEO)
    lease.change("keep", ADA, None, BOB)
    assert lease.asking == {CLEO}
    lease.change("keep", ADA)
    assert lease.asking == set()
    lease.change("ask", BOB)
    lease.change("give", ADA, None, CLEO)
    assert (lease.holder, lease.epoch, lease.asking) == (CLEO, 2, set())
    lease.change("ask", BOB)
    lease.remove(BOB)
    assert lease.asking == set()


def test_only_the_holder_gives_the_lease_and_only_to_a_participant_that_may_write() -> None:
    lease = WriterLeaseState()
    lease.change("take", ADA)
    assert refused(lease, "give", BOB, None, CLEO).code == "conflict"
    assert refused(lease, "keep", BOB).details == {"mode": "exclusive", "holder": "ada", "epoch": 1}
    assert refused(lease, "give", ADA).code == "invalid_params"
    assert refused(lease, "give", ADA, None, participant("eve", read_only=True)).code == "forbidden"
    assert refused(lease, "ask", participant("eve", read_only=True)).code == "forbidden"
    assert refused(lease, "ask", None).code == "invalid_params"


# ---- on the wire


async def two(client: Client) -> tuple[Channel, Channel]:
    await client.ask("terminal.create", id="t", argv=["sh", "-c", "stty raw -echo; echo ready; exec cat"])
    one, other = (client.attach("t", input=f"i-{key}", viewer={"key": key, "name": key}) for key in ("ada", "bob"))
    for channel in (one, other):
        await channel.event("opened")
        await channel.seen(b"ready")
    return one, other


async def test_every_viewer_is_sent_a_change_with_its_applied_offset_and_later_input_is_refused(client: Client) -> None:
    ada, bob = await two(client)
    bob.send(b"before")
    await ada.seen(b"before")
    lease = await client.ask("terminal.lease", id="t", action="take", viewer="ada", epoch=0)
    assert lease == {"mode": "exclusive", "holder": "v1", "epoch": 1}
    assert await bob.event("lease") == lease | {"applied": 6}
    assert await ada.event("lease") == lease | {"applied": 0}
    bob.send(b"never")
    error = await bob.refusal()
    assert (error.code, error.details) == ("lease_held", lease | {"applied": 6})
    ada.send(b"mine")
    await ada.seen(b"mine")
    assert b"never" not in ada.output
    again = client.attach("t", input="i-bob", viewer={"key": "bob"})
    opened = await again.event("opened")
    assert (opened["lease"], opened["input_offset"], opened["viewer"]) == (lease, 6, "v2")
    again.sent = opened["input_offset"]
    taken = await client.ask("terminal.lease", id="t", action="take", viewer="bob", epoch=1)
    assert await ada.event("lease", 2) == taken | {"applied": 4}
    again.send(b"now")
    await ada.seen(b"now")


async def test_resent_bytes_that_were_applied_before_the_change_are_not_refused(client: Client) -> None:
    ada, bob = await two(client)
    bob.send(b"once")
    await ada.seen(b"once")
    await client.ask("terminal.lease", id="t", action="take", viewer="ada")
    again = client.attach("t", input="i-bob", viewer={"key": "bob"})
    await again.event("opened")
    again.send(b"once", 0)
    await again.until(lambda: again.granted == 4)
    assert not again.closed


async def test_a_holder_that_loses_its_connection_keeps_the_lease_until_it_is_removed(client: Client) -> None:
    ada, bob = await two(client)
    await client.ask("terminal.lease", id="t", action="take", viewer="ada")
    ada.cancel()
    ada = client.attach("t", input="i-ada", viewer={"key": "ada"})
    assert (await ada.event("opened"))["lease"]["holder"] == "v1"
    ada.cancel()
    await bob.event("left")
    assert (await bob.event("lease", 2))["mode"] == "free"


async def test_the_holder_is_sent_a_request_and_hands_the_lease_over(client: Client) -> None:
    ada, bob = await two(client)

    def requests() -> list[bool]:
        return [event.value["viewer"]["asks"] for event in ada.events if event.name == "presence"]

    await client.ask("terminal.lease", id="t", action="take", viewer="ada")
    await client.ask("terminal.lease", id="t", action="ask", viewer="bob")
    await ada.until(lambda: requests() and requests()[-1])
    lease = await client.ask("terminal.lease", id="t", action="give", viewer="ada", to="v2")
    assert await bob.event("lease", 2) == lease | {"applied": 0}
    assert lease == {"mode": "exclusive", "holder": "v2", "epoch": 2}
    await ada.until(lambda: not requests()[-1])


async def test_an_unknown_key_or_next_holder_is_not_found(client: Client) -> None:
    await two(client)
    await client.ask("terminal.lease", id="t", action="take", viewer="ada")
    assert (await client.refused("terminal.lease", id="t", action="give", viewer="ada", to="v9")).code == "not_found"
    assert (await client.refused("terminal.lease", id="t", action="take", viewer="v1")).code == "not_found"
