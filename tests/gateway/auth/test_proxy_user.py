"""Sessions of users that a proxy has authenticated."""

from hawse_gateway.auth.proxy_user import SCOPE_KEY, ProxyUser, counts, login_id


def test_a_session_counts_only_with_the_user_of_the_proxy() -> None:
    ada, eve = ProxyUser("ada", ("staff",)), ProxyUser("eve", ("staff",))
    assert counts({SCOPE_KEY: ada}, login_id(ada))
    assert counts({SCOPE_KEY: ProxyUser("ada")}, login_id(ada))
    assert not counts({SCOPE_KEY: eve}, login_id(ada))
    assert not counts({SCOPE_KEY: None}, login_id(ada))
    assert not counts({}, login_id(ada))


def test_other_sessions_count_also_without_such_a_user() -> None:
    assert counts({}, "owner-1")
    assert counts({}, "login-0123")
