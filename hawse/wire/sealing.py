"""Seals the answer to a secret question for the runtime, so that gateways and proxies only carry ciphertext.

An ephemeral X25519 key agreement (RFC 7748) gives a shared secret. HKDF-SHA-256 (RFC 5869) derives a one-time pad from
it, and a key for HMAC-SHA-256 (encrypt-then-MAC). Each question has its own key pair, which the runtime forgets with
the question. A gateway that replaces the question's key can still read the answer: sealing protects against everything
that only stores or forwards it.

Pure Python integers are not constant-time. This is acceptable because each private key is used for one question.
"""

import hmac
import secrets
from typing import Final, NamedTuple

KEY_SIZE: Final = 32  # bytes
TAG_SIZE: Final = 32  # bytes
TEXT_MAX: Final = 4095  # maximum size of a text, in bytes; the maximum for a line in a terminal

_P: Final = 2**255 - 19
_A24: Final = 121665  # (486662 - 2) / 4
_BASE: Final = (9).to_bytes(KEY_SIZE, "little")
_INFO: Final = b"hawse sealed answer 1\0"


class SealError(ValueError):
    """The sealed bytes are damaged or were sealed for another question, or a text is too long to seal."""


class KeyPair(NamedTuple):
    """An X25519 key pair."""

    private: bytes
    public: bytes

    @classmethod
    def generate(cls) -> "KeyPair":
        private = secrets.token_bytes(KEY_SIZE)
        return cls(private, x25519(private, _BASE))


def seal(text: bytes, public: bytes, question: str) -> bytes:
    """Return `text` sealed for a question.

    Args:
        text: The answer.
        public: The question's public key.
        question: The question's id.

    Raises:
        SealError: The public key is invalid, or the text is too long.
    """
    if len(text) > TEXT_MAX:
        raise SealError(f"the answer has {len(text)} bytes; the maximum is {TEXT_MAX}")
    own = KeyPair.generate()
    pad, key = _keys(own.private, public, own.public + public, question, len(text))
    cipher = bytes(a ^ b for a, b in zip(text, pad, strict=True))
    return own.public + hmac.digest(key, cipher, "sha256") + cipher


def unseal(sealed: bytes, pair: KeyPair, question: str) -> bytearray:
    """Return the text. The caller must overwrite it after use; no other copy of it remains.

    Args:
        sealed: The bytes returned by `seal`.
        pair: The question's key pair.
        question: The question's id.

    Raises:
        SealError: The bytes are damaged, or were sealed for another question.
    """
    public, tag, cipher = sealed[:KEY_SIZE], sealed[KEY_SIZE : KEY_SIZE + TAG_SIZE], sealed[KEY_SIZE + TAG_SIZE :]
    if len(tag) != TAG_SIZE:
        raise SealError("the sealed answer is too short")
    if len(cipher) > TEXT_MAX:
        raise SealError("the sealed answer is too long")
    pad, key = _keys(pair.private, public, public + pair.public, question, len(cipher))
    if not hmac.compare_digest(tag, hmac.digest(key, cipher, "sha256")):
        raise SealError("the answer was not sealed for this question")
    text = bytearray(len(cipher))  # never grows: growing would leave a copy of the text in memory
    for index, byte in enumerate(cipher):
        text[index] = byte ^ pad[index]
    return text


def x25519(scalar: bytes, point: bytes) -> bytes:
    """Return the product of a scalar and a point, as specified in RFC 7748, section 5."""
    k = int.from_bytes(scalar, "little") & ~7 & (1 << 255) - 1 | 1 << 254
    u = int.from_bytes(point, "little") & (1 << 255) - 1
    x2, z2, x3, z3, swap = 1, 0, u, 1, 0
    for t in range(254, -1, -1):
        bit = k >> t & 1
        if swap ^ bit:
            x2, z2, x3, z3 = x3, z3, x2, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a % _P, b * b % _P, d * a % _P, c * b % _P
        e = aa - bb
        x3, z3 = pow(da + cb, 2, _P), u * pow(da - cb, 2, _P) % _P
        x2, z2 = aa * bb % _P, e * (aa + _A24 * e) % _P
    # The last bit of `k` is 0, so nothing remains to be swapped.
    return (x2 * pow(z2, _P - 2, _P) % _P).to_bytes(KEY_SIZE, "little")


def _keys(private: bytes, public: bytes, context: bytes, question: str, size: int) -> tuple[bytes, bytes]:
    """Return a pad of `size` bytes for the text, and the tag's key."""
    shared = x25519(private, public)
    if len(public) != KEY_SIZE or not any(shared):  # a point of small order (RFC 7748, section 6.1)
        raise SealError("the public key is invalid")
    info = _INFO + question.encode()
    key, blocks, block = hmac.digest(context, shared, "sha256"), bytearray(), b""
    for counter in range(1, -(-(size + TAG_SIZE) // 32) + 1):
        block = hmac.digest(key, block + info + bytes((counter,)), "sha256")
        blocks += block
    return bytes(blocks[TAG_SIZE : TAG_SIZE + size]), bytes(blocks[:TAG_SIZE])
