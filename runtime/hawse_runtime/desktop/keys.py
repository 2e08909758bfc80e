"""Converts key names and characters to X11 key symbols (keysyms)."""

import unicodedata
from typing import Final

from hawse.wire import HawseError

KEYS_MAX: Final = 8  # maximum number of keys in a combination

# Keysyms from X11's keysymdef.h, keyed by the names used in browsers and by common short names.
_NAMED: Final = {
    "backspace": 0xFF08,
    "tab": 0xFF09,
    "return": 0xFF0D,
    "enter": 0xFF0D,
    "pause": 0xFF13,
    "scroll_lock": 0xFF14,
    "escape": 0xFF1B,
    "esc": 0xFF1B,
    "home": 0xFF50,
    "left": 0xFF51,
    "arrowleft": 0xFF51,
    "up": 0xFF52,
    "arrowup": 0xFF52,
    "right": 0xFF53,
    "arrowright": 0xFF53,
    "down": 0xFF54,
    "arrowdown": 0xFF54,
    "page_up": 0xFF55,
    "pageup": 0xFF55,
    "prior": 0xFF55,
    "page_down": 0xFF56,
    "pagedown": 0xFF56,
    "next": 0xFF56,
    "end": 0xFF57,
    "print": 0xFF61,
    "printscreen": 0xFF61,
    "insert": 0xFF63,
    "menu": 0xFF67,
    "contextmenu": 0xFF67,
    "num_lock": 0xFF7F,
    "kp_enter": 0xFF8D,
    "shift": 0xFFE1,
    "shift_l": 0xFFE1,
    "shift_r": 0xFFE2,
    "ctrl": 0xFFE3,
    "control": 0xFFE3,
    "control_l": 0xFFE3,
    "control_r": 0xFFE4,
    "caps_lock": 0xFFE5,
    "capslock": 0xFFE5,
    "meta": 0xFFE7,
    "alt": 0xFFE9,
    "option": 0xFFE9,
    "alt_l": 0xFFE9,
    "alt_r": 0xFFEA,
    "altgr": 0xFE03,
    "super": 0xFFEB,
    "super_l": 0xFFEB,
    "super_r": 0xFFEC,
    "cmd": 0xFFEB,
    "command": 0xFFEB,
    "win": 0xFFEB,
    "delete": 0xFFFF,
    "del": 0xFFFF,
    "space": 0x20,
    "plus": 0x2B,
    "minus": 0x2D,
    **{f"f{number}": 0xFFBD + number for number in range(1, 25)},
}


def keysym_of(character: str) -> int:
    """Return the keysym that types a character.

    Raises:
        HawseError: `invalid_params` for a control character (except tab and line feed) or a lone surrogate.
    """
    if character in "\n\t":
        return _NAMED["return" if character == "\n" else "tab"]
    code = ord(character)
    if unicodedata.category(character) in ("Cc", "Cs"):
        raise HawseError("invalid_params", f"the character U+{code:04X} cannot be typed")
    return code if 0x20 <= code <= 0x7E or 0xA0 <= code <= 0xFF else 0x0100_0000 + code


def parse_keys(names: str) -> list[int]:
    """Return the keysyms for a key combination such as `ctrl+shift+t`, in the same order.

    Raises:
        HawseError: `invalid_params` if a name is unknown or the combination has more than KEYS_MAX keys.
    """
    parts = names.split("+")
    if len(parts) > KEYS_MAX:
        raise HawseError("invalid_params", f"a combination can have at most {KEYS_MAX} keys, not {len(parts)}")
    return [_key(part.strip(" ") or part, names) for part in parts]


def _key(name: str, names: str) -> int:
    known = _NAMED.get(name.lower())
    if known is not None:
        return known
    if len(name) == 1:
        return keysym_of(name)
    raise HawseError("invalid_params", f"{name!r} in {names!r} is not a valid key name", details={"path": "$.keys"})
