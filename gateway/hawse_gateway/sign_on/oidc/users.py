"""Maps a token's claims to a user and the user's permissions. No I/O."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, cast

from hawse.api.rights import OWN, ROLES, Right, Role
from hawse.wire import HawseError, Principal
from hawse_gateway.auth import principals

ANYBODY: Final = "*"
OWN_PREFIX: Final = "own:"
NAME_MAX: Final = 128  # maximum length of a display name
HASHED: Final = "oidc-"  # prefix of user ids that contain a hash of the claim
_USER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@+|:-]{0,127}")
_OTHERS: Final = (HASHED, "link-", "token-")  # prefixes reserved for other kinds of principals
_RESERVED: Final = frozenset({principals.OWNER.id, principals.GATEWAY.id, principals.PREVIEW.id, "stranger", "nobody"})


class RoleRule(NamedTuple):
    """A rule that assigns a role to users.

    Attributes:
        value: The required value of the role claim. `ANYBODY` matches all users.
        role: The role.
        own: Whether the role applies only to the user's own sandboxes.
    """

    value: str
    role: Role
    own: bool

    @classmethod
    def parse(cls, text: str) -> "RoleRule":
        """Parse `VALUE=ROLE` or `VALUE=own:ROLE`. Raises `ValueError`."""
        value, separator, role = text.rpartition("=")
        own = role.startswith(OWN_PREFIX)
        role = role.removeprefix(OWN_PREFIX)
        if not separator or not value or role not in ROLES:
            raise ValueError(f"{text!r}: expected VALUE=ROLE or VALUE=own:ROLE, with a role of {', '.join(ROLES)}")
        return cls(value, cast(Role, role), own)


class Users:
    """Maps claims to users according to a gateway's rules."""

    def __init__(self, rules: Iterable[RoleRule], *, user_claim: str = "sub", role_claim: str = "groups") -> None:
        """Create the mapping from a set of rules.

        Args:
            rules: The rules. A user gets the permissions granted by all matching rules.
            user_claim: The claim that contains the user's id. Ids must never be reassigned to other users.
            role_claim: The claim that contains the user's roles, as a string or a list. `a.b` refers to the member `b`
                of the claim `a`.
        """
        self._rules = list(rules)
        self._user_claim = user_claim
        self._role_claim = role_claim

    def principal(self, claims: Mapping[str, Any]) -> Principal:
        """Return the user identified by verified claims. Raises `HawseError` (`forbidden`)."""
        id = self._id(claims)
        values = _values(claims, self._role_claim)
        rights = dict.fromkeys(
            str(Right(name, OWN if rule.own else None))
            for rule in self._rules
            if rule.value == ANYBODY or rule.value in values
            for name in ROLES[rule.role]
        )
        if not rights:
            raise HawseError("forbidden", "your account has no role at this gateway")
        names = (claims.get(name) for name in ("name", "preferred_username", "email"))
        name = next((name for name in names if isinstance(name, str) and name.isprintable() and name), id)
        return Principal(id=id, name=name[:NAME_MAX], kind="user", rights=tuple(rights))

    def _id(self, claims: Mapping[str, Any]) -> str:
        value = claims.get(self._user_claim)
        if not isinstance(value, str) or not value:
            raise HawseError("forbidden", f"your account has no {self._user_claim!r}")
        if self._user_claim == "email" and claims.get("email_verified") is not True:
            raise HawseError("forbidden", "your account's email address is not verified")
        if _USER.fullmatch(value) and value.lower() not in _RESERVED and not value.startswith(_OTHERS):
            return value
        return HASHED + hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def _values(claims: Mapping[str, Any], path: str) -> set[str]:
    found: Any = claims.get(path)
    if found is None:
        found = claims
        for name in path.split("."):
            found = found.get(name) if isinstance(found, Mapping) else None
    return {value for value in (found if isinstance(found, list) else [found]) if isinstance(value, str)}
