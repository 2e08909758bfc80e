"""Encodes named keys and pasted text as a terminal would in its current modes.

A key name consists of modifiers and a key, joined by `+`: `ctrl+c`, `up`, `shift+tab`, `alt+x`, `f5`, `ctrl++`.
Characters are placed as on a US keyboard.
"""

import re
from typing import Any

from hawse.wire import HawseError
from hawse_runtime.screen.emulator.ghostty import handle
from hawse_runtime.screen.emulator.libghostty import Emulator, check, ffi, lib

MODIFIERS = {"shift": 1, "ctrl": 2, "control": 2, "alt": 4, "option": 4, "meta": 4, "super": 8, "cmd": 8}
_SHIFT, _CTRL, _ALT = 1, 2, 4

_NAMED = {
    **{name: name.upper() for name in "enter tab escape backspace delete insert home end space".split()},
    **{name: f"ARROW_{name.upper()}" for name in "up down left right".split()},
    **{f"f{n}": f"F{n}" for n in range(1, 26)},
    **{"pageup": "PAGE_UP", "pagedown": "PAGE_DOWN", "page_up": "PAGE_UP", "page_down": "PAGE_DOWN"},
    **{"esc": "ESCAPE", "return": "ENTER", "del": "DELETE", "ins": "INSERT"},
}
_CHARACTERS = {
    **{chr(c): chr(c - 32) for c in range(ord("a"), ord("z") + 1)},
    **{d: f"DIGIT_{d}" for d in "0123456789"},
    **{" ": "SPACE", "`": "BACKQUOTE", "\\": "BACKSLASH", "[": "BRACKET_LEFT", "]": "BRACKET_RIGHT", ",": "COMMA"},
    **{"=": "EQUAL", "-": "MINUS", ".": "PERIOD", "'": "QUOTE", ";": "SEMICOLON", "/": "SLASH"},
}
_UNSHIFTED = dict(zip('~|{}<+_>":?!@#$%^&*()', "`\\[],=-.';/1234567890", strict=True))
# All control characters except tab, line feed and carriage return. web/src/terminal/paste.ts uses the same rule.
_PASTE_CONTROLS = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_PASTE_BEGIN, _PASTE_END = b"\x1b[200~", b"\x1b[201~"
# The codes that Ctrl produces with these characters in the legacy encoding (ECMA-48, C0 controls).
_CONTROLS = {"[": b"\x1b", "i": b"\t", "m": b"\r"}

NAMES = sorted(_NAMED)


def encode_keys(names: list[str], emulator: Emulator) -> bytes:
    """Return the bytes for named keys in the modes of `emulator`. Raises `invalid_params`, listing the valid names."""
    encoder, event = ffi.new("GhosttyKeyEncoder*"), ffi.new("GhosttyKeyEvent*")
    check(lib.ghostty_key_encoder_new(ffi.NULL, encoder), "new key encoder")
    try:
        check(lib.ghostty_key_event_new(ffi.NULL, event), "new key event")
        try:
            lib.ghostty_key_encoder_setopt_from_terminal(encoder[0], handle(emulator))
            legacy = emulator.get("kitty_keyboard_flags", "uint8_t") == 0
            return b"".join(_encode(name, encoder[0], event[0], legacy) for name in names)
        finally:
            lib.ghostty_key_event_free(event[0])
    finally:
        lib.ghostty_key_encoder_free(encoder[0])


def encode_paste(text: str, emulator: Emulator) -> bytes:
    """Return pasted text with CR for each line ending, bracketed if the program has set mode 2004.

    Control characters are replaced with spaces, because they could end the bracketed paste or have other effects.
    """
    data = re.sub("\r\n|\n", "\r", _PASTE_CONTROLS.sub(" ", text)).encode()
    return _PASTE_BEGIN + data + _PASTE_END if emulator.mode(2004) else data


def _encode(name: str, encoder: Any, event: Any, legacy: bool) -> bytes:
    mods, key = _parse(name)
    text = "" if key in _NAMED else key
    base = _UNSHIFTED.get(text, text.lower())
    if base != text:
        mods |= _SHIFT
    if legacy and mods & ~_ALT == _CTRL and base in _CONTROLS:
        return (b"\x1b" if mods & _ALT else b"") + _CONTROLS[base]
    if key == "space":
        text = base = " "
    if mods & _SHIFT and base == text:
        text = _SHIFTED.get(text, text.upper())
    code = _NAMED.get(key) or _CHARACTERS.get(base, "UNIDENTIFIED")
    utf8 = ffi.new("char[]", text.encode())
    lib.ghostty_key_event_set_action(event, lib.GHOSTTY_KEY_ACTION_PRESS)
    lib.ghostty_key_event_set_key(event, getattr(lib, f"GHOSTTY_KEY_{code}"))
    lib.ghostty_key_event_set_mods(event, mods)
    lib.ghostty_key_event_set_utf8(event, utf8, len(utf8) - 1)
    lib.ghostty_key_event_set_unshifted_codepoint(event, ord(base) if base else 0)
    out, size = ffi.new("char[128]"), ffi.new("size_t*")
    check(lib.ghostty_key_encoder_encode(encoder, event, out, len(out), size), "encode key")
    if not size[0]:
        raise _unknown(name)
    return bytes(ffi.buffer(out, size[0]))


_SHIFTED = {base: text for text, base in _UNSHIFTED.items()}


def _parse(name: str) -> tuple[int, str]:
    """Return the modifiers and the key, which is a name or a single character."""
    before, plus, key = name.rpartition("+")
    if name == "+" or name.endswith("++"):  # the key is +
        before, key, plus = name[:-2], "+", name[:-2]
    if plus and not before:
        raise _unknown(name)
    mods = 0
    for modifier in before.split("+") if before else ():
        if modifier.lower() not in MODIFIERS:
            raise _unknown(name)
        mods |= MODIFIERS[modifier.lower()]
    if len(key) != 1 or mods & _CTRL:  # Ctrl+C is the same as ctrl+c
        key = key.lower()
    if key not in _NAMED and (len(key) != 1 or not key.isprintable()):
        raise _unknown(name)
    return mods, key


def _unknown(name: str) -> HawseError:
    details = {"path": "$.keys", "key": name, "modifiers": list(MODIFIERS), "keys": NAMES}
    return HawseError(
        "invalid_params", f"unknown key {name!r}: expected one character or one of {', '.join(NAMES)}", details=details
    )
