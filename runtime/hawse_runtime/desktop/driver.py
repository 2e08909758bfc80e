"""Converts agents' input to pointer and key events: clicks, drags, scrolling, text and keys."""

import asyncio
from collections.abc import Iterable
from typing import Final

from hawse.api.desktops import MouseButton, Point
from hawse_runtime.desktop.keys import keysym_of
from hawse_runtime.desktop.rfb_client import RfbClient

BUTTONS: Final = {"left": 1, "middle": 2, "right": 4}  # bits in a pointer event's button mask
UP, DOWN, TO_LEFT, TO_RIGHT = 8, 16, 32, 64  # bits for scrolling
STEP: Final = 0.01  # seconds between points of a drag, so that programs notice the movement
PORTION: Final = 100  # number of characters to type at a time; the X server must read them before more are sent


async def move(client: RfbClient, x: int, y: int) -> None:
    client.pointer(x, y, 0)
    await client.drain()


async def click(client: RfbClient, at: Point, button: MouseButton, count: int, hold: Iterable[int]) -> None:
    held = list(hold)
    client.pointer(at.x, at.y, 0)
    for keysym in held:
        client.key(keysym, down=True)
    for _ in range(count):
        client.pointer(at.x, at.y, BUTTONS[button])
        client.pointer(at.x, at.y, 0)
    for keysym in reversed(held):
        client.key(keysym, down=False)
    await client.drain()


async def drag(client: RfbClient, path: list[Point], button: MouseButton) -> None:
    """Press the button at the first point and release it at the last, even if the call is cancelled in between."""
    client.pointer(path[0].x, path[0].y, 0)
    here = path[0]
    try:
        for here in path:
            client.pointer(here.x, here.y, BUTTONS[button])
            await asyncio.sleep(STEP)
    finally:
        client.pointer(here.x, here.y, 0)
    await client.drain()


async def scroll(client: RfbClient, at: Point, dx: int, dy: int) -> None:
    client.pointer(at.x, at.y, 0)
    for steps, back, forth in ((dy, UP, DOWN), (dx, TO_LEFT, TO_RIGHT)):
        for _ in range(abs(steps)):
            client.pointer(at.x, at.y, forth if steps > 0 else back)
            client.pointer(at.x, at.y, 0)
    await client.drain()


async def type_text(client: RfbClient, text: str) -> None:
    """Type text. If any character can't be typed, type nothing and raise `HawseError` (`invalid_params`)."""
    keysyms = [keysym_of(character) for character in text.replace("\r\n", "\n")]
    for start in range(0, len(keysyms), PORTION):
        for keysym in keysyms[start : start + PORTION]:
            client.key(keysym, down=True)
            client.key(keysym, down=False)
        await client.drain()


async def press(client: RfbClient, keysyms: list[int], count: int) -> None:
    for _ in range(count):
        for keysym in keysyms:
            client.key(keysym, down=True)
        for keysym in reversed(keysyms):
            client.key(keysym, down=False)
    await client.drain()
