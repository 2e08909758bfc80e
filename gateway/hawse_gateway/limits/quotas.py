"""Limits on users, links and addresses, set by the operator with `--limit`. No I/O."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, Literal, NamedTuple, cast, get_args

from hawse.api.rights import ALL
from hawse.wire import HawseError, Principal
from hawse_gateway.limits.rates import network_of

Who = Literal["user", "link", "address"]
What = Literal["connections", "sandboxes", "backups", "storage", "mounts", "terminals", "tunnels", "calls", "bytes"]

FORM: Final = "WHO:WHAT=NUMBER"
BYTES_MIN: Final = 4096  # minimum bytes per second; with a lower limit, a single chunk would take too long
_TEXT: Final = re.compile(r"([a-z]+):([a-z]+)=(\d{1,15})([KMG]?)")
_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class Subject(NamedTuple):
    """A user, link or address with a limit.

    Attributes:
        who: The kind of subject.
        name: The user's or link's id, or the address.
        number: The value of the limit.
    """

    who: Who
    name: str
    number: int


class Quotas:
    """All limits of one gateway. Callers with all rights are not limited."""

    def __init__(self, numbers: Mapping[tuple[Who, What], int] | None = None) -> None:
        self._numbers = dict(numbers or {})

    @classmethod
    def parse(cls, texts: Iterable[str], defaults: Mapping[tuple[Who, What], int] | None = None) -> "Quotas":
        """Parse limits such as `link:bytes=2M`.

        Args:
            texts: Limits of the form FORM. Numbers of bytes can end with K, M or G.
            defaults: The limits that apply unless `texts` overrides them.

        Raises:
            ValueError: One of `texts` is invalid or repeats a limit.
        """
        given: dict[tuple[Who, What], int] = {}
        for text in texts:
            key, number = _parse(text)
            if key in given:
                raise ValueError(f"{text!r}: {key[0]}:{key[1]} is set twice")
            given[key] = number
        return cls({**(defaults or {}), **given})

    def number(self, who: Who, what: What) -> int | None:
        """Return a limit, or None if it is not set."""
        return self._numbers.get((who, what))

    def rates(self, what: What) -> dict[Who, int]:
        """Return the limits on `what`, keyed by kind of subject."""
        return {who: number for (who, limited), number in self._numbers.items() if limited == what}

    def subjects(self, what: What, principal: Principal, address: str) -> list[Subject]:
        """Return the subjects whose limit on `what` applies to a caller.

        Args:
            what: The limited quantity.
            principal: The caller.
            address: The caller's address, `HOST:PORT`. Empty for the gateway's own calls, which are not limited.
        """
        if ALL in principal.rights or not address:
            return []
        who: Who = "link" if principal.kind == "guest" else "user"
        names: dict[Who, str] = {who: principal.id, "address": network_of(address)}
        return [
            Subject(who, name, self._numbers[who, what]) for who, name in names.items() if (who, what) in self._numbers
        ]


class HeldLimit:
    """Limits the number of items, such as connections, that each user, link and address can hold at once.

    Attributes:
        what: The name of the counted items, in the plural.
        others: The counts at other gateways, keyed by subject.
        on_held: Called after a count has been checked or changed. None if there is only one gateway.
    """

    def __init__(self, quotas: Quotas | None = None, what: What = "connections") -> None:
        """Start with all counts at zero.

        Args:
            quotas: The limits. None disables them.
            what: The name of the counted items, in the plural.
        """
        self._quotas = quotas or Quotas()
        self.what: What = what
        self.others: Mapping[tuple[str, str], int] = {}
        self.on_held: Callable[[], None] | None = None
        self._held: Counter[tuple[Who, str]] = Counter()

    @property
    def limited(self) -> bool:
        """Whether any subject has a limit."""
        return bool(self._quotas.rates(self.what))

    @property
    def held(self) -> Mapping[tuple[Who, str], int]:
        """The counts at this gateway, keyed by subject."""
        return self._held

    def check(self, principal: Principal, address: str) -> None:
        """Raise `HawseError` (`limit_exceeded`) if one more item would exceed any of the caller's limits."""
        for who, name, number in self._quotas.subjects(self.what, principal, address):
            self._changed()
            if self._held.get((who, name), 0) + self.others.get((who, name), 0) >= number:
                raise limit_exceeded(f"the {who} {name!r} has {number} {self.what}, which is the limit")

    @contextmanager
    def hold(self, principal: Principal, address: str) -> Iterator[None]:
        """Count one more item while the `with` block runs. Raises the same errors as `check`."""
        self.check(principal, address)
        names = [(who, name) for who, name, _ in self._quotas.subjects(self.what, principal, address)]
        self._held.update(names)
        try:
            yield
        finally:
            self._held.subtract(names)
            for name in names:
                if not self._held[name]:
                    del self._held[name]
            if names:
                self._changed()

    def _changed(self) -> None:
        if self.on_held is not None:
            self.on_held()


def limit_exceeded(text: str, wait: float | None = None) -> HawseError:
    """Return the error for exceeding a limit.

    Args:
        text: A description of the limit.
        wait: Seconds until a retry can succeed. None if waiting doesn't help.
    """
    if wait is None:
        return HawseError("limit_exceeded", text)
    wait = max(round(wait, 3), 0.001)
    return HawseError("limit_exceeded", f"{text}: wait {wait:g} s", details={"retry_after": wait})


def _parse(text: str) -> tuple[tuple[Who, What], int]:
    found = _TEXT.fullmatch(text)
    if found is None or found[1] not in get_args(Who) or found[2] not in get_args(What):
        raise ValueError(f"{text!r}: expected {FORM}, WHO one of {_list(Who)}, WHAT one of {_list(What)}")
    who, what, number = cast(Who, found[1]), cast(What, found[2]), int(found[3]) * _UNITS[found[4]]
    if found[4] and what not in ("bytes", "storage"):
        raise ValueError(f"{text!r}: only a number of bytes can end with K, M or G")
    if what in ("sandboxes", "backups", "storage", "mounts", "tunnels") and who != "user":
        raise ValueError(f"{text!r}: only users have {what}")
    if number < (least := BYTES_MIN if what == "bytes" else 1):
        raise ValueError(f"{text!r}: the number must be at least {least}")
    return (who, what), number


def _list(values: object) -> str:
    return ", ".join(get_args(values))
