"""The pool of idle executors for new contexts, as set with the option `--code-pool` of the gateway and the runtime."""

import re
from collections.abc import Iterable, Mapping

import msgspec

FORM = "[LANGUAGE:]size=N,idle=SECONDS,memory=BYTES"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_VALUE = re.compile(r"(size|idle|memory)=(\d{1,15})([KMG]?)")


class PoolLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of the pool of one language."""

    size: int = 2  # idle executors; with 0, each context starts its own
    idle: float = 600.0  # seconds without a new context or run until the idle executors are ended
    memory: int = 512 << 20  # bytes of resident memory of all idle executors in total


def parse_pools(texts: Iterable[str]) -> tuple[PoolLimits, Mapping[str, PoolLimits]]:
    """Return the default limits, and the limits of languages with their own values.

    Args:
        texts: Each of the form FORM, with at least one value. A text without a language sets the defaults, including
            the values that a language's text omits.

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
