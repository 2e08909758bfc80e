from tests.support.runtime import Client, Served


async def test_changes_that_nobody_has_read_are_one(client: Client, served: Served) -> None:
    await client.ask("terminal.create", id="t", argv=["cat"])
    other = await served.client(window=1)
    watch = other.call("recording.watch", generous=False)
    await watch.event("recordings")  # it overdraws the window: no other comes before a grant
    for _ in range(3):
        name = (await client.ask("recording.start", terminal="t"))["id"]
        await client.ask("recording.stop", id=name)
    await client.ask("recording.start", terminal="t", id="last")
    assert len(watch.events) == 1
    watch.grant(4096)
    value = await watch.event("recordings", 2)
    assert [recording["id"] for recording in value["recordings"]] == ["last"]
    watch.cancel()
    assert (await watch.refusal()).code == "cancelled"
    await other.cut()


async def test_it_takes_no_input(client: Client) -> None:
    watch = client.call("recording.watch")
    await watch.event("recordings")
    watch.send(b"x")
    assert (await watch.refusal()).code == "protocol_error"
