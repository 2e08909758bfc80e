"""Random changes to bytes and JSON values, with a seeded generator."""

import random
from collections.abc import Sequence
from typing import Any

ODD_NUMBERS = (0, 1, -1, 2, 255, 256, 65_535, 65_536, 2**31, 2**32 - 1, 2**32, 2**53, 2**63, 2**64, 10**30, 0.5, 1e308)
ODD_TEXTS = (
    *("", " ", "a", "..", "../x", "/", "//", "/x", "~", "-", "--help", "%00", "%2e%2e", "é", "汉字", "\udc80", "\x00"),
    *("\n", "\r\n", "\x1b[2J", "x" * 300, "x" * 5_000, "null", "None", "nan", "*" * 50, "[" * 50, "{" * 50, "\\u0000"),
)


def mutated(rng: random.Random, data: bytes, tokens: Sequence[bytes] = (), most: int = 8) -> bytes:
    """Return `data` with at most `most` changes: bytes changed, removed, repeated or moved, and `tokens` inserted."""
    part = bytearray(data)
    for _ in range(rng.randint(0, most)):
        at = rng.randrange(len(part) + 1)
        match rng.randrange(7):
            case 0:
                part[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                del part[at : at + rng.choice((1, 1, 2, 8, 64))]
            case 2:
                part[at:at] = part[at : at + rng.randint(1, 64)] * rng.choice((1, 1, 2, 50))
            case 3:
                part[at:at] = rng.randbytes(rng.randint(1, 8))
            case 4 if part:
                at = min(at, len(part) - 1)
                part[at] ^= 1 << rng.randrange(8)
            case 5:
                del part[at:]
            case _ if tokens:
                part[at:at] = rng.choice(tokens)
    return bytes(part)


def odd_value(rng: random.Random, depth: int = 3) -> Any:
    """Return any JSON value, including numbers and texts at limits."""
    kinds = 7 if depth else 5
    match rng.randrange(kinds):
        case 0:
            return rng.choice((None, True, False))
        case 1:
            return rng.choice(ODD_NUMBERS)
        case 2 | 3:
            return rng.choice(ODD_TEXTS)
        case 4:
            return rng.randint(-10, 100)
        case 5:
            return [odd_value(rng, depth - 1) for _ in range(rng.randint(0, 3))]
        case _:
            return {rng.choice(ODD_TEXTS): odd_value(rng, depth - 1) for _ in range(rng.randint(0, 3))}
