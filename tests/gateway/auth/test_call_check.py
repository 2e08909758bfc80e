import json
from typing import Any

import msgspec
import pytest

from hawse.api import METHODS
from hawse.api.rights import CONTROL, limited
from hawse.wire import Call, HawseError, Principal
from hawse_gateway.auth.call_check import check_call
from hawse_gateway.auth.principals import OWNER
from tests.support.gateway import VIEWER_TOKEN, FakeRuntime, Gateway
from tests.support.principals import VIEWER

LINK = Principal(id="link", name="", kind="guest", rights=(limited("view", "main"),))


def call(method: str, params: Any = None) -> Call:
    text = params if isinstance(params, str) else json.dumps(params or {})
    return Call(ch=1, method=method, sandbox="local", params=msgspec.Raw(text.encode()))


def allowed(principal: Principal, method: str, params: Any = None) -> bool:
    try:
        check_call(principal, call(method, params), "local")
    except HawseError as error:
        return error.code not in ("forbidden", "not_found")
    return True


@pytest.mark.parametrize("method", METHODS)
def test_the_owner_may_call_everything_and_a_principal_without_rights_nothing(method: str) -> None:
    assert allowed(OWNER, method) == (METHODS[method].requires != CONTROL)
    assert not allowed(Principal(id="x", name="", kind="user", rights=()), method, {"id": "main"})


@pytest.mark.parametrize("method", METHODS)
def test_a_viewer_can_call_methods_that_require_view(method: str) -> None:
    assert allowed(VIEWER, method, {"id": "main"}) == (METHODS[method].requires == "view")


def test_a_right_at_a_terminal_is_checked_by_the_parameter_that_names_it() -> None:
    assert allowed(LINK, "terminal.screen", {"id": "main", "format": "text"})
    assert not allowed(LINK, "terminal.screen", {"id": "other"})
    assert not allowed(LINK, "terminal.send", {"id": "main"})
    assert allowed(LINK, "terminal.list")
    assert not allowed(LINK, "exec", {"id": "main"})


@pytest.mark.parametrize("params", ["{}", "[]", "null", "{", '{"id": 1}', '{"id": null}', '{"id": ["main"]}'])
def test_parameters_that_name_no_terminal_are_refused(params: str) -> None:
    assert not allowed(LINK, "terminal.screen", params)


def test_the_last_of_two_equal_names_is_used_as_in_the_runtime() -> None:
    assert not allowed(LINK, "terminal.screen", '{"id": "main", "id": "other"}')


def test_a_method_of_a_later_version_is_left_to_the_runtime() -> None:
    assert allowed(LINK, "later.method")


@pytest.mark.parametrize("method", [name for name, spec in METHODS.items() if spec.requires != CONTROL])
def test_a_right_in_own_sandboxes_applies_if_the_caller_owns_the_sandbox(method: str) -> None:
    ada = Principal(id="ada", name="", kind="user", rights=("*/~",))
    own = check_call(ada, call(method), "ada.x", lambda who, sandbox: (who.id, sandbox) == ("ada", "ada.x"))
    assert own.rights == ("*",)
    for sandbox in ("eve.x", "no-such"):
        with pytest.raises(HawseError, match=f"unknown sandbox '{sandbox}'"):
            check_call(ada, call(method), sandbox, lambda who, sandbox: False)


async def test_a_forbidden_call_starts_no_sandbox(gateway: Gateway, runtime: FakeRuntime) -> None:
    async with gateway.peer(token=VIEWER_TOKEN) as viewer:
        with pytest.raises(HawseError, match="forbidden"):
            await viewer.ask("exec", {"argv": ["true"]})
    assert runtime.links == []
