from typing import Any

import pytest

from hawse.wire import HawseError
from hawse_gateway.sign_on.oidc.users import RoleRule, Users

RULES = [RoleRule.parse(text) for text in ("admins=owner", "dev=team=writer", "staff=own:operator")]


def test_a_rule_names_a_value_and_a_role_perhaps_in_own_sandboxes() -> None:
    assert RULES[1] == RoleRule("dev=team", "writer", False)
    assert RULES[2] == RoleRule("staff", "operator", True)
    for text in ("", "admins", "=owner", "admins=root", "admins=own:"):
        with pytest.raises(ValueError, match="expected VALUE=ROLE"):
            RoleRule.parse(text)


def test_all_rules_that_match_give_rights() -> None:
    users = Users(RULES)
    found = users.principal({"sub": "ada", "groups": ["staff", "dev=team", 5, None], "name": "Ada L."})
    assert (found.id, found.name, found.kind) == ("ada", "Ada L.", "user")
    assert found.rights == ("write", "operate/~")
    assert users.principal({"sub": "ada", "groups": "admins"}).rights == ("*",)


@pytest.mark.parametrize("groups", [None, [], "other", ["Admins"], {"admins": True}, [["admins"]], "*"])
def test_a_user_without_a_rule_is_refused(groups: Any) -> None:
    with pytest.raises(HawseError) as caught:
        Users(RULES).principal({"sub": "ada", "groups": groups})
    assert caught.value.code == "forbidden"


def test_a_star_gives_a_role_to_everybody_and_roles_may_be_nested() -> None:
    everybody = Users([RoleRule.parse("*=viewer")])
    assert everybody.principal({"sub": "ada"}).rights == ("view",)
    nested = Users(RULES, role_claim="realm_access.roles")
    assert nested.principal({"sub": "a", "realm_access": {"roles": ["admins"]}}).rights == ("*",)
    url = Users(RULES, role_claim="https://example.org/roles")
    assert url.principal({"sub": "a", "https://example.org/roles": ["admins"]}).rights == ("*",)


def test_no_user_gets_the_id_of_another_principal() -> None:
    users = Users([RoleRule.parse("*=viewer")])
    names = ["owner", "Owner", "gateway", "preview", "link-1", "token-1", "a b", "ü", "oidc-1", "x" * 129, "a/b"]
    found = [users.principal({"sub": name}).id for name in names]
    assert all(id.startswith("oidc-") and id not in names for id in found)
    assert len(set(found)) == len(names)
    assert users.principal({"sub": "auth0|5f7"}).id == "auth0|5f7"


@pytest.mark.parametrize("sub", [None, "", 5, ["ada"]])
def test_a_user_without_an_id_is_refused(sub: Any) -> None:
    with pytest.raises(HawseError, match="has no 'sub'"):
        Users([RoleRule.parse("*=viewer")]).principal({"sub": sub})


def test_an_address_identifies_a_user_only_if_it_is_verified() -> None:
    users = Users([RoleRule.parse("*=viewer")], user_claim="email")
    claims = {"sub": "1", "email": "ada@example.org"}
    assert users.principal({**claims, "email_verified": True}).id == "ada@example.org"
    for verified in ({}, {"email_verified": False}, {"email_verified": "true"}):
        with pytest.raises(HawseError, match="not verified"):
            users.principal({**claims, **verified})
