"""The pool of idle executors for new contexts, configured with the gateway's and the runtime's `--code-pool` option."""

import re
from collections.abc import Iterable, Mapping

import msgspec

FORM = "[LANGUAGE:]size=N,idle=SECONDS,memory=BYTES"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_VALUE = re.compile(r"(size|idle|memory)=(\d{1,15})([KMG]?)")


class PoolLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits for one language's pool."""

    size: int = 2  # number of idle executors; if 0, each context starts its own
    idle: float = 600.0  # seconds without a new context or run before the idle executors are ended
    memory: int = 512 << 20  # total resident memory of all idle executors, in bytes


def parse_pools(texts: Iterable[str]) -> tuple[PoolLimits, Mapping[str, PoolLimits]]:
    """Return the default limits, and the limits for languages that have their own.

    Args:
        texts: Texts in the format FORM, each with at least one value. A text without a language sets the defaults,
            which also apply to values omitted from a language's text.

    Raises:
        ValueError: A text is malformed, or two texts are for the same language.
    """
    given: dict[str, dict[str, int]] = {}
    for text in texts:
        language, _, values = text.rpartition(":")
        if language in given:
            raise ValueError(f"{text!r}: there are two values for {language or 'all languages'}")
        given[language] = dict(_value(part, text) for part in values.split(","))
    common = msgspec.structs.replace(PoolLimits(), **given.pop("", {}))
    return common, {language.lower(): msgspec.structs.replace(common, **values) for language, values in given.items()}


def _value(part: str, text: str) -> tuple[str, int]:
    found = _VALUE.fullmatch(part)
    if found is None or (found[3] and found[1] != "memory"):
        raise ValueError(f"{text!r}: expected {FORM}, where memory can end with K, M or G")
    return found[1], int(found[2]) * _UNITS[found[3]]
