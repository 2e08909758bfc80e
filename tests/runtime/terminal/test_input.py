"""Typing on behalf of a call: what is checked, and what is written."""

import pytest

from hawse.wire import HawseError
from hawse_runtime.posix.fd_streams import WRITE_LIMIT
from hawse_runtime.terminal.input import check_input, encode_input, type_input
from tests.support.runtime import Client, Served


async def test_text_and_keys_are_encoded_in_order(client: Client, served: Served) -> None:
    await client.terminal("exec cat")
    terminal = served.runtime.terminals.get("t")
    assert await encode_input(terminal, "a", "b", ["enter"]) == b"ab\r"
    assert await encode_input(terminal) == b""
    with pytest.raises(HawseError, match="invalid_params"):
        await encode_input(terminal, keys=["nokey"])


async def test_input_is_checked_before_it_is_typed(client: Client, served: Served) -> None:
    shell = await client.terminal("exec cat")
    terminal = served.runtime.terminals.get("t")
    with pytest.raises(HawseError, match="conflict"):
        check_input(terminal, None, 1, 1.0)
    with pytest.raises(HawseError, match="not_found"):
        check_input(terminal, "nobody", 1, None)
    with pytest.raises(HawseError, match="input_overflow"):
        check_input(terminal, None, WRITE_LIMIT + 1, None)
    type_input(terminal, check_input(terminal, None, 5, None), b"done\n")
    await shell.seen(b"done\r\ndone")
    await client.ask("terminal.kill", id="t", grace=0)
    with pytest.raises(HawseError, match="exited"):
        check_input(terminal, None, 1, None)
