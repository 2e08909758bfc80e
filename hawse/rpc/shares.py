"""Limits each principal's share of a resource, such as connections, so that others cannot lock out the owner.

A principal with every right can use all free resources. The other principals together must leave a part free for it,
and each of them must leave a part free for the rest.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from hawse.api.rights import ALL
from hawse.wire import HawseError, Principal

RESERVED: Final = 1 / 8  # fraction of the total that principals without every right must leave free
EACH: Final = 3 / 4  # maximum fraction for any other principal; large, because many users can share a viewer's token


class Shares:
    """Counts the resources that each principal holds. `held` is the total."""

    def __init__(self, total: int, name: str) -> None:
        """Create a counter with all resources free.

        Args:
            total: The total amount.
            name: The resource's name in the plural, for error messages.
        """
        self.held = 0
        self._total = total
        self._name = name
        self._by_principal: Counter[str] = Counter()  # resources held by principals without every right, keyed by id

    def check(self, principal: Principal) -> None:
        """Raise `HawseError` (`limit_exceeded`) if `principal` cannot hold another resource."""
        if self.held >= self._total:
            raise HawseError("limit_exceeded", f"{self._total} {self._name} are open, which is the limit")
        if ALL in principal.rights:
            return
        together = self._total - max(1, int(self._total * RESERVED))
        each = min(together, int(self._total * EACH))
        if self._by_principal[principal.id] >= each:
            raise HawseError(
                "limit_exceeded", f"{principal.id!r} has {each} {self._name} open, which is the limit per guest"
            )
        if self._by_principal.total() >= together:
            raise HawseError(
                "limit_exceeded", f"guests have {together} {self._name} open, which is their combined limit"
            )

    @contextmanager
    def hold(self, principal: Principal) -> Iterator[None]:
        """Hold one resource for `principal` during the `with` block. Raises the same errors as `check`."""
        self.check(principal)
        guest = ALL not in principal.rights
        self.held += 1
        if guest:
            self._by_principal[principal.id] += 1
        try:
            yield
        finally:
            self.held -= 1
            if guest:
                self._by_principal[principal.id] -= 1
                if not self._by_principal[principal.id]:
                    del self._by_principal[principal.id]
