"""`hawse shell --predict` over a stalled connection."""

import asyncio
import os
import sys

import pexpect
import pytest

from tests.support.proxy import CuttingProxy
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_keys_are_shown_while_the_connection_stands_still(stack: Stack) -> None:
    async with CuttingProxy(stack.port) as proxy:
        shell = pexpect.spawn(
            sys.executable,
            ["-m", "hawse.cli", "shell", "--predict", "--cwd", "/"],
            env={**os.environ, "HAWSE_URL": proxy.url, "HAWSE_TOKEN": stack.token, "HISTFILE": "/dev/null"},
            dimensions=(30, 120),
            timeout=30,
        )
        try:
            await asyncio.to_thread(shell.expect, rb"[$#] ")
            shell.send("e")
            await asyncio.to_thread(shell.expect_exact, b"e")
            proxy.stall()
            shell.send("cho wronx")
            await asyncio.to_thread(shell.expect_exact, b"\x1b[4mcho wronx\x1b[24m")
            shell.send("\x7fg")
            await asyncio.to_thread(shell.expect_exact, b"\x1b[4mcho wrong\x1b[24m")
            proxy.resume_reading()
            shell.send("; read -s line; echo $line\r")
            await asyncio.to_thread(shell.expect, rb"wrong\r\n")
            proxy.stall()
            shell.send("secret\r")
            proxy.resume_reading()
            await asyncio.to_thread(shell.expect_exact, b"secret")
            assert b"\x1b[4m" not in shell.before
            shell.send("exit 3\r")
            await asyncio.to_thread(shell.expect, pexpect.EOF)
        finally:
            await asyncio.to_thread(shell.close, force=True)
        assert shell.exitstatus == 3
