"""`terminal.wait`: the events that end it, their offsets, and that it ends with its caller and misses no output."""

from tests.support.runtime import Client, Served

MARKED = r"printf '\033]133;C\007out\033]133;D;5\007'"


async def test_a_pattern_matches_output_since_an_offset(client: Client) -> None:
    shell = await client.terminal(r"printf 'a\033[1mb\033[mc 42\nrest'; exec cat")
    await shell.seen(b"rest")
    waited = await client.ask("terminal.wait", id="t", pattern=r"abc (?P<n>\d+)$", since=0)
    assert waited["event"] == "pattern"
    assert waited["match"]["text"] == "abc 42"
    assert waited["match"]["named"] == {"n": "42"}
    assert shell.output[waited["offset"] :] == b"\r\nrest"
    again = await client.ask("terminal.wait", id="t", pattern="abc", since=waited["offset"], timeout=0.05)
    assert (again["event"], again["offset"]) == ("timeout", shell.position)


async def test_a_pattern_matches_new_output(client: Client) -> None:
    shell = await client.terminal("stty -echo; printf ready; exec cat")
    await shell.seen(b"ready")
    waiting = client.call("terminal.wait", {"id": "t", "pattern": "ready", "literal": True})
    assert (await waiting.event("opened"))["from"] == shell.position
    await shell.type(b"get re")
    await shell.type(b"ady\n")
    assert (await waiting.result())["event"] == "pattern"


async def test_a_pattern_matches_on_the_screen(client: Client) -> None:
    shell = await client.terminal("stty -echo raw; printf ready; exec cat")
    await shell.seen(b"ready")
    waiting = client.call("terminal.wait", {"id": "t", "pattern": "^hello wor", "on": "screen"})
    await waiting.event("opened")
    await shell.type(b"\x1b[2;7Hworld\x1b[2;1Hhello")
    assert (await waiting.result())["match"]["text"] == "hello wor"
    assert (await client.ask("terminal.wait", id="t", pattern="ready", on="screen"))["event"] == "pattern"


async def test_silence_is_measured_from_the_last_output(client: Client) -> None:
    await client.terminal("i=0; while [ $i -lt 20 ]; do echo $i; i=$((i+1)); sleep 0.02; done; printf done; exec cat")
    waited = await client.ask("terminal.wait", id="t", silence=0.3, since=0)
    assert waited["event"] == "silence"
    assert waited["offset"] == (await client.ask("terminal.get", id="t"))["offset"]
    assert "done" in (await client.ask("terminal.screen", id="t"))["content"]


async def test_the_end_of_the_program_ends_every_wait(client: Client) -> None:
    shell = await client.terminal("read x; printf last; exit 3")
    waits = [
        client.call("terminal.wait", {"id": "t", **what})
        for what in ({"exit": True}, {"pattern": "never"}, {"command": True})
    ]
    found = client.call("terminal.wait", {"id": "t", "pattern": "last"})
    await found.event("opened")
    await shell.type(b"\n")
    for wait in waits:
        waited = await wait.result()
        assert (waited["event"], waited["exit"]["code"]) == ("exit", 3)
    assert (await found.result())["event"] == "pattern"
    assert (await client.ask("terminal.wait", id="t", exit=True))["event"] == "exit"


async def test_the_end_of_a_command_has_its_code_and_range(client: Client) -> None:
    shell = await client.terminal(f"{MARKED}; exec cat")
    await shell.seen(b"D;5")
    waited = await client.ask("terminal.wait", id="t", command=True, since=0)
    command = waited["command"]
    assert (waited["event"], command["code"]) == ("command", 5)
    assert shell.output[command["start"] : command["end"]] == b"out"
    assert waited["offset"] == shell.position


async def test_a_prompt_after_the_last_line_ends_the_wait(client: Client) -> None:
    shell = await client.terminal(r"printf '\033]133;A\007$ '; read x; printf ok; read x; exec cat")
    await shell.seen(b"$ ")
    assert (await client.ask("terminal.wait", id="t", prompt=True))["event"] == "prompt"
    await shell.type(b"line\n")
    await shell.seen(b"ok")
    waiting = client.call("terminal.wait", {"id": "t", "prompt": True})
    await waiting.event("opened")
    await shell.type(b"line\n\x1b]133;A\x07\n")  # the terminal echoes it as ^[, and then cat repeats it
    waited = await waiting.result()
    assert (waited["event"], waited["offset"]) == ("prompt", shell.position)


async def test_the_first_event_in_the_output_ends_the_wait(client: Client) -> None:
    shell = await client.terminal(f"{MARKED}; printf after; exec cat")
    await shell.seen(b"after")
    assert (await client.ask("terminal.wait", id="t", pattern="after", command=True, since=0))["event"] == "pattern"
    assert (await client.ask("terminal.wait", id="t", pattern="never", command=True, since=0))["event"] == "command"


async def test_a_wait_reports_where_it_starts_if_older_output_is_dropped(client: Client, served: Served) -> None:
    shell = await client.terminal("head -c 9000000 /dev/zero | tr '\\0' x; printf end; exec cat")
    await shell.seen(b"end")
    waited = await client.ask("terminal.wait", id="t", pattern="end", since=0)
    assert waited["event"] == "pattern"
    assert waited["from"] > 0


async def test_ten_megabytes_on_one_line_are_searched_to_the_end(client: Client, served: Served) -> None:
    """A pattern that makes others backtrack for ever, while other calls are answered.

    A terminal passes on 4 KB at a time, and each time the machine switches between two programs: on a busy one, a
    megabyte takes seconds. `test_100_mb_on_one_line_take_bounded_memory` searches more, without a terminal.
    """
    client.call(
        "terminal.create",
        {"id": "t", "argv": ["sh", "-c", "read x; head -c 10000000 /dev/zero | tr '\\0' x; printf needle; exec cat"]},
    )
    waiting = client.call("terminal.wait", {"id": "t", "pattern": "(x+x+)+needle", "timeout": 150}, timeout=150)
    await waiting.event("opened")
    await client.ask("terminal.send", id="t", keys=["enter"])
    answered = 0
    while not waiting.closed:
        await client.info()
        answered += 1
    waited = await waiting.result()
    assert (waited["event"], waited["match"]["truncated"]) == ("pattern", True)
    assert waited["offset"] > 10_000_000
    assert answered > 10


async def test_a_wait_ends_with_its_caller(client: Client, served: Served) -> None:
    await client.terminal("exec cat")
    terminal = served.runtime.terminals.get("t")
    before = terminal.subscribers
    waiting = client.call("terminal.wait", {"id": "t", "pattern": "x", "silence": 100})
    await waiting.event("opened")
    assert terminal.subscribers == before + 1
    waiting.cancel()
    assert (await waiting.refusal()).code == "cancelled"
    assert terminal.subscribers == before
    other = await served.client()
    left = other.call("terminal.wait", {"id": "t", "pattern": "x"})
    await left.event("opened")
    await other.cut()
    await served.until(lambda: terminal.subscribers == before)


async def test_a_wait_takes_no_input(client: Client) -> None:
    await client.terminal("exec cat")
    waiting = client.call("terminal.wait", {"id": "t", "pattern": "x"})
    waiting.send(b"x")
    assert (await waiting.refusal()).code == "protocol_error"


async def test_a_caller_that_grants_nothing_is_answered(client: Client) -> None:
    await client.terminal("printf here; exec cat")
    waiting = client.call("terminal.wait", {"id": "t", "pattern": "here", "since": 0}, window=1)
    assert (await waiting.result())["event"] == "pattern"


async def test_a_program_that_waits_for_input_ends_the_wait(client: Client) -> None:
    shell = await client.terminal("printf 'Name: '; read x; stty -echo; printf 'Key: '; read y; exec sleep 3600")
    waited = await client.ask("terminal.wait", id="t", waiting=True)
    assert (waited["event"], waited["waiting"]["kind"], waited["waiting"]["prompt"]) == ("waiting", "line", "Name:")
    assert waited["offset"] == len(b"Name: ")
    await shell.type(b"Anna\n")
    await shell.seen(b"Anna")
    waited = await client.ask("terminal.wait", id="t", waiting=True)
    assert (waited["waiting"]["kind"], waited["waiting"]["prompt"]) == ("secret", "Key:")
    await shell.type(b"secret\n")
    await shell.until(lambda: [e.value["kind"] for e in shell.events if e.name == "waiting"][-1] == "no")
    waiting = client.call("terminal.wait", {"id": "t", "waiting": True})
    await waiting.event("opened")
    await client.ask("terminal.kill", id="t")
    assert (await waiting.result())["event"] == "exit"


async def test_the_prompt_of_a_shell_that_does_not_report_commands_ends_a_wait_for_a_prompt(client: Client) -> None:
    await client.ask("terminal.create", id="t", argv=["bash", "--norc"])
    assert (await client.ask("terminal.wait", id="t", prompt=True))["event"] == "prompt"
    sent = await client.ask("terminal.send", id="t", text="read -p 'Name? ' x; echo $x\n")
    waited = await client.ask("terminal.wait", id="t", prompt=True, waiting=True, since=sent["offset"])
    assert (waited["event"], waited["waiting"]["prompt"]) == ("waiting", "Name?")
    await client.ask("terminal.send", id="t", text="Anna\n")
    assert (await client.ask("terminal.wait", id="t", prompt=True, waiting=True))["event"] == "prompt"


async def test_a_shell_at_its_prompt_does_not_end_a_wait_for_input(client: Client) -> None:
    await client.ask("terminal.create", id="t", argv=["bash", "--norc"])
    shell = client.attach("t", input="keys")
    await shell.until(lambda: any(e.value.get("waiting", e.value).get("idle_shell") for e in shell.events))
    waiting = client.call("terminal.wait", {"id": "t", "waiting": True})
    await waiting.event("opened")
    await shell.type(b"read -p 'Name? ' x\r")
    assert (await waiting.result())["waiting"]["prompt"] == "Name?"
