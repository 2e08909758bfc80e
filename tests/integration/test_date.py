"""The machine's date changes while everything runs: nothing ends early, and nothing lives longer.

libfaketime gives the gateway and its runtimes a different date, and does not affect monotonic clocks.
"""

import asyncio
from pathlib import Path

import hawse
from hawse.client import Sandbox
from tests.support.stack import Stack

(LIBRARY,) = Path("/usr/lib").glob("*/faketime/libfaketime.so.1")
HOUR, DAY = 3600.0, 86_400
WAIT = 150.0  # s after which a waiting test fails


async def date(sandbox: Sandbox) -> int:
    """Return the date as seen by a sandbox's programs, in seconds since 1970."""
    return int((await sandbox.exec("date +%s")).stdout)


async def test_a_date_that_jumps_by_a_day_ends_nothing(tmp_path: Path) -> None:
    offset = tmp_path / "offset"
    offset.write_text("+0\n")
    settings = {
        "LD_PRELOAD": LIBRARY,
        "FAKETIME_TIMESTAMP_FILE": offset,
        "FAKETIME_NO_CACHE": 1,
        "DONT_FAKE_MONOTONIC": 1,
        "NO_FAKE_STAT": 1,
    }
    under = ("env", *(f"{name}={value}" for name, value in settings.items()))
    async with (
        Stack(tmp_path / "state", "--idle-timeout", str(HOUR), under=under) as stack,
        hawse.connect(stack.base, token=stack.token) as owner,
    ):
        box = await owner.sandboxes.create("box", timeout=HOUR, idle_timeout=HOUR)
        before, today = await box.runtime(), await date(box)
        token = await owner.tokens.create("an hour", role="operator", expires_in=HOUR)
        async with (
            asyncio.timeout(WAIT),
            hawse.connect(stack.base, token=token.token) as guest,
            guest.sandbox("box").terminals.open("t", argv=["cat"]) as terminal,
            box.sessions.create() as session,
        ):
            recording = await terminal.record()
            process = await box.processes.start(["sleep", "1000"])
            for number, days in enumerate((1, -1)):
                offset.write_text(f"{days:+d}d\n")
                assert abs(await date(box) - today - days * DAY) < HOUR
                await terminal.write(b"after %d\n" % number)
                await terminal.expect(f"after {number}")
                assert (await session.exec("echo on")).stdout == b"on\n"
                assert (await box.processes.get(process.id)).exit is None
                assert (await recording.info()).state == "recording"
                async with hawse.connect(stack.base, token=token.token) as another:
                    assert (await another.sandbox("box").runtime()).runtime == before.runtime
                await stack.kill()
                await stack.start()  # it reads all rows on that date, and ends everything that is due
                assert (await box.runtime()).runtime == before.runtime
            await process.kill()
        await box.delete()
