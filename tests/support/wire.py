"""Helpers for the tests of `hawse.wire`: golden vectors, tables of docs/wire.md, connections after the handshake."""

import json
import re
from pathlib import Path
from typing import Any

from msgspec import Raw

from hawse.wire import Connection, Limits, Message, Role
from hawse.wire.channel import ChannelState
from hawse.wire.messages import encode

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "wire.md").read_text("utf-8")

Entry = dict[str, Any]


def vectors(file: str, part: str) -> list[Entry]:
    entries: list[Entry] = json.loads((ROOT / "tests" / "vectors" / file).read_text("utf-8"))[part]
    return entries


def called(entry: Entry) -> str:
    """Return the id of a parametrized test."""
    return f"{entry['from']}: {entry['name']}" if "from" in entry else str(entry["name"])


def wire_form(entry: Entry) -> bytes:
    """Return the bytes of a control message of messages.json."""
    if "hex" in entry:
        return bytes.fromhex(entry["hex"])
    if "length" not in entry:
        return str(entry["text"]).encode()
    head, pad, tail = (entry.get(part, "").encode() for part in ("prefix", "pad", "suffix"))
    return head + pad * -(-(entry["length"] - len(head + tail)) // len(pad)) + tail


def table(heading: str, first: str) -> list[list[str]]:
    """Return the rows of the table whose first column is `first`, in the section `heading` of docs/wire.md."""
    section = re.split(r"^#+ ", PAGE.split(f"# {heading}\n", 1)[1], maxsplit=1, flags=re.M)[0]
    lines = iter(section.splitlines())
    for line in lines:
        if line.startswith(f"| {first} |"):
            break
    next(lines)  # the ruler
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
    return rows


def close_codes() -> set[int]:
    """Return the close codes of section 7."""
    return {int(code) for row in table("7. Limits", "close code") for code in re.findall(r"\d{4}", row[0])}


def pair(limits: Limits | None = None, *, window: int = 1 << 20) -> tuple[Connection, Connection]:
    """Return a client and a server after the handshake."""
    client, server = Connection(Role.CLIENT, window=window), Connection(Role.SERVER, limits)
    client.send_hello("test")
    deliver(client, server)
    server.send_welcome("test", identity="i", role="r")
    deliver(server, client)
    return client, server


def deliver(sender: Connection, receiver: Connection) -> list[Any]:
    """Deliver all pending messages of `sender`; return the events of `receiver`."""
    for message in sender.data_to_send():
        if isinstance(message, str):
            receiver.receive_text(message)
        else:
            receiver.receive_data(message)
    return list(receiver.events())


def raw(body: bytes) -> Raw:
    """Return undecoded JSON, valid or not."""
    return Raw(body)


def text(message: Message) -> str:
    return encode(message).decode()


def four_calls() -> tuple[Connection, Connection]:
    """Return a client with the channels 1 (open), 2 (ended), 3 (cancelling) and 4 (closed), and its server."""
    client, server = pair(Limits(input_window=100, payload=150), window=200)
    for _ in range(4):
        client.call("m")
    client.end(2)
    client.cancel(3)
    deliver(client, server)
    server.send_result(4)
    deliver(server, client)
    return client, server


def check_four_calls(client: Connection, server: Connection) -> None:
    """Assert that the connections of `four_calls` have sent nothing since, and that their channels are unchanged."""
    for connection in (client, server):
        assert connection.data_to_send() == []
        assert list(connection.channels) == [1, 2, 3]
        states = [channel.state for channel in connection.channels.values()]
        assert states == [ChannelState.OPEN, ChannelState.ENDED, ChannelState.CANCELLING]


def sharing(*, shares: bool) -> tuple[Connection, Connection, list[int]]:
    """Return a client and a server, and three open channels with a window of 100 bytes."""
    client, server = Connection(Role.CLIENT, window=100), Connection(Role.SERVER)
    client.send_hello("test", shares=shares)
    deliver(client, server)
    server.send_welcome("test", identity="i", role="r")
    deliver(server, client)
    chs = [client.call("m") for _ in range(3)]
    deliver(client, server)
    return client, server, chs
