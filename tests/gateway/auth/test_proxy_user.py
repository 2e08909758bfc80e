"""Sessions of users authenticated by a proxy."""

from hawse_gateway.auth.proxy_user import SCOPE_KEY, ProxyUser, counts, login_id


def test_a_session_is_valid_only_with_the_proxys_user() -> None:
    ada, eve = ProxyUser("ada", ("staff",)), ProxyUser("eve", ("staff",))
    assert counts({SCOPE_KEY: ada}, login_id(ada))
    assert counts({SCOPE_KEY: ProxyUser("ada")}, login_id(ada))
    assert not counts({SCOPE_KEY: eve}, login_id(ada))
    assert not counts({SCOPE_KEY: None}, login_id(ada))
    assert not counts({}, login_id(ada))


def test_other_sessions_are_valid_without_a_proxy_user() -> None:
    assert counts({}, "owner-1")
    assert counts({}, "login-0123")
