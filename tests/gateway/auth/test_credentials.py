"""Tokens, links and sessions as rows shared by several gateways."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from hawse.wire import HawseError, Principal
from hawse_gateway.auth.credentials import (
    OF_EACH_USER,
    SESSION_LIFETIME,
    SESSION_STEP,
    SESSIONS_OF_EACH,
    TABLE,
    Credentials,
    name_of,
)
from hawse_gateway.auth.identity import Identity
from hawse_gateway.auth.principals import OWNER
from hawse_gateway.store.base import ANY_TABLE, StoreError
from tests.support.clock import ManualClock
from tests.support.stores import MemoryStore
from tests.support.waiting import TIMEOUT

SECRET = "the token of the owner"
ADA = Principal(id="ada", name="laptop", kind="user", rights=("operate/a",))


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def credentials(store: MemoryStore, clock: ManualClock) -> AsyncIterator[Credentials]:
    async with Credentials(SECRET, store, clock=clock.clock).running() as running:
        yield running


@asynccontextmanager
async def another(store: MemoryStore, clock: ManualClock, token: str = SECRET) -> AsyncIterator[Credentials]:
    async with Credentials(token, store, clock=clock.clock).running() as running:
        yield running


def owner(credentials: Credentials) -> Identity:
    found = credentials.find(SECRET)
    assert found is not None
    return found


async def test_a_secret_identifies_its_principal_and_only_its_hash_is_stored(
    credentials: Credentials, store: MemoryStore
) -> None:
    secret, row = await credentials.create("token", ADA, owner(credentials))
    found = credentials.find(secret)
    assert found is not None
    assert (found.principal.id, found.principal.rights, found.principal.credential) == ("ada", ADA.rights, row.id)
    assert secret.startswith("hwt_")
    assert len(secret) >= 43 + 4
    stored = store.tables[TABLE][row.id].value
    assert secret.encode() not in stored
    assert hashlib.sha256(secret.encode()).hexdigest().encode() in stored
    for wrong in ("", secret[:-1], secret + "x", row.id, row.digest, "\udcff"):
        assert credentials.find(wrong) is None


async def test_the_owners_token_is_known_before_the_rows_are_read_and_is_not_stored(store: MemoryStore) -> None:
    found = Credentials(SECRET, store).find(SECRET)
    assert found is not None
    assert found.principal == OWNER
    assert store.tables == {}


async def test_a_restarted_gateway_knows_the_same_secrets(
    credentials: Credentials, store: MemoryStore, clock: ManualClock
) -> None:
    secret, _ = await credentials.create("token", ADA, owner(credentials))
    async with another(store, clock) as restarted:
        assert restarted.find(secret) == credentials.find(secret)


async def test_a_credential_ends_when_it_expires(credentials: Credentials, clock: ManualClock) -> None:
    secret, row = await credentials.create("link", ADA, owner(credentials), lifetime=10.0)
    clock.advance(9.9)
    assert credentials.find(secret) is not None
    clock.advance(0.1)
    assert credentials.find(secret) is None
    assert credentials.get(row.id) is None
    assert credentials.all("link") == []


@pytest.mark.parametrize("jump", [86_400, -86_400])
async def test_a_change_of_the_date_ends_no_credential_and_prolongs_none(
    store: MemoryStore, clock: ManualClock, jump: int
) -> None:
    async with another(store, clock) as first:
        secret, row = await first.create("token", ADA, owner(first), lifetime=3600.0)
    clock.wall += jump
    async with another(store, clock) as restarted:
        found = restarted.find(secret)
        assert found is not None
        _, link = await restarted.create("link", ADA, found, lifetime=7200.0)
        assert link.expires == row.expires  # not later than its creator, whatever the date was
        clock.uptime += 3600
        assert restarted.find(secret) is None


async def test_after_a_reboot_the_date_decides_when_a_credential_ends(store: MemoryStore, clock: ManualClock) -> None:
    async with another(store, clock) as before:
        secret, _ = await before.create("token", ADA, owner(before), lifetime=3600.0)
    booted = ManualClock("another boot")
    booted.uptime = 1.0
    async with another(store, booted) as after:
        assert after.find(secret) is not None
        booted.wall += 3600
        assert after.find(secret) is None


async def test_credentials_created_with_a_token_end_with_it(credentials: Credentials, clock: ManualClock) -> None:
    secret, row = await credentials.create("token", ADA, owner(credentials), lifetime=10.0)
    token = credentials.find(secret)
    assert token is not None
    session_secret, session = await credentials.create("session", ADA, token)
    session_identity = credentials.find(session_secret)
    assert session_identity is not None
    link_secret, link = await credentials.create("link", ADA, session_identity, lifetime=9999.0)
    assert (session.parent, link.parent) == (row.id, row.id)  # a link does not end with the session of its creator
    assert session.expires == link.expires == row.expires
    await credentials.revoke(session.id)
    assert credentials.find(link_secret) is not None
    ended: list[str] = []
    credentials.subscribe(ended.append)
    await credentials.revoke(row.id)
    assert [credentials.find(one) for one in (secret, session_secret, link_secret)] == [None] * 3
    assert set(ended) == {row.id, link.id}


async def test_tokens_remain_when_the_owners_token_changes_and_its_sessions_end(
    credentials: Credentials, store: MemoryStore, clock: ManualClock
) -> None:
    token, _ = await credentials.create("token", ADA, owner(credentials))
    session, _ = await credentials.create("session", OWNER, owner(credentials))
    async with another(store, clock, "another token of the owner") as changed:
        assert changed.find(SECRET) is None
        assert changed.find(token) is not None
        assert changed.find(session) is None


async def test_another_gateway_follows_creation_and_revocation(
    credentials: Credentials, store: MemoryStore, clock: ManualClock
) -> None:
    async with another(store, clock) as other:
        gone = asyncio.Event()
        other.subscribe(lambda id: gone.set())
        secret, row = await credentials.create("token", ADA, owner(credentials))
        identity = credentials.find(secret)
        await credentials.revoke(row.id)
        _, last = await credentials.create("token", ADA, owner(credentials))
        while other.get(last.id) is None:  # noqa: ASYNC110  # there is no event for a new row
            await asyncio.sleep(0)
        assert other.find(secret) is None
        assert identity is not None
        assert not other.current(identity)
        await other.revoke(last.id)
        await asyncio.wait_for(gone.wait(), TIMEOUT)


async def test_a_store_that_fails_is_an_error_of_the_call(credentials: Credentials, store: MemoryStore) -> None:
    secret, row = await credentials.create("token", ADA, owner(credentials))
    store.error = StoreError("the disk is full")
    with pytest.raises(HawseError, match="unavailable: the disk is full"):
        await credentials.create("token", ADA, owner(credentials))
    with pytest.raises(HawseError, match="unavailable"):
        await credentials.revoke(row.id)
    assert credentials.find(secret) is not None  # it was not revoked, and the caller knows


async def test_the_number_of_credentials_of_a_user_is_limited_and_expired_ones_make_room(
    credentials: Credentials, clock: ManualClock
) -> None:
    for _ in range(OF_EACH_USER):
        await credentials.create("token", ADA, owner(credentials), lifetime=10.0)
    with pytest.raises(HawseError, match="limit_exceeded"):
        await credentials.create("token", ADA, owner(credentials))
    clock.advance(10)
    await credentials.create("token", ADA, owner(credentials))


async def test_the_oldest_session_of_a_token_ends_when_there_are_too_many(
    credentials: Credentials, clock: ManualClock
) -> None:
    made = []
    for _ in range(SESSIONS_OF_EACH + 2):
        clock.advance(1)
        made.append((await credentials.create("session", OWNER, owner(credentials)))[0])
    assert [credentials.find(secret) is None for secret in made] == [True] * 2 + [False] * SESSIONS_OF_EACH


async def test_an_unreadable_row_is_not_a_credential(store: MemoryStore, clock: ManualClock) -> None:
    store.put(TABLE, "token-1", b"{}")
    async with another(store, clock) as loaded:
        assert loaded.all("token") == []


async def test_a_session_in_use_does_not_end(credentials: Credentials, clock: ManualClock, store: MemoryStore) -> None:
    secret, row = await credentials.begin_session(owner(credentials))
    identity = credentials.find_session(name_of(row.id), secret)
    assert identity is not None
    assert await credentials.extend(row.id) == pytest.approx(SESSION_LIFETIME)
    written = store.tables[TABLE][row.id].version
    clock.advance(SESSION_STEP)
    assert await credentials.extend(row.id) == pytest.approx(SESSION_LIFETIME - SESSION_STEP)
    assert store.tables[TABLE][row.id].version == written
    clock.advance(SESSION_LIFETIME - 2 * SESSION_STEP)
    assert await credentials.extend(row.id) == pytest.approx(SESSION_LIFETIME)
    assert credentials.expiry(identity) == clock.clock.now().after(SESSION_LIFETIME)
    async with another(store, clock) as restarted:
        assert restarted.find_session(name_of(row.id), secret) == credentials.find_session(name_of(row.id), secret)
    clock.advance(SESSION_LIFETIME)
    assert credentials.find_session(name_of(row.id), secret) is None
    assert await credentials.extend(row.id) is None


async def test_a_session_does_not_outlive_its_token(credentials: Credentials, clock: ManualClock) -> None:
    token, _ = await credentials.create("token", ADA, owner(credentials), lifetime=60)
    identity = credentials.find(token)
    assert identity is not None
    _, row = await credentials.begin_session(identity)
    assert row.principal.id == "ada"
    clock.advance(30)
    assert await credentials.extend(row.id) == pytest.approx(30)


async def test_two_gateways_extend_a_session(credentials: Credentials, clock: ManualClock, store: MemoryStore) -> None:
    _, row = await credentials.begin_session(owner(credentials))
    async with another(store, clock) as other:
        clock.advance(2 * SESSION_STEP)
        assert await other.extend(row.id) == pytest.approx(SESSION_LIFETIME)
        assert await credentials.extend(row.id) == pytest.approx(SESSION_LIFETIME)


async def test_only_the_secret_of_a_session_is_found_as_one(credentials: Credentials) -> None:
    token, row = await credentials.create("token", ADA, owner(credentials))
    for secret in (token, SECRET):
        assert credentials.find_session(row.id, secret) is None
    session_secret, session = await credentials.begin_session(owner(credentials))
    assert credentials.find_session(name_of(row.id), session_secret) is None
    cookie, _, key = session_secret.partition(".")
    for half in (cookie, key, f"{cookie}.", f".{key}", f"{cookie}.{cookie}"):
        assert credentials.find_session(name_of(session.id), half) is None
    assert credentials.kind(row.id) == "token"
    assert credentials.kind(owner(credentials).credential) is None


async def test_a_login_keeps_the_sessions_of_its_user_unless_the_rights_differ(
    credentials: Credentials, clock: ManualClock, store: MemoryStore
) -> None:
    step = SESSION_STEP
    login = await credentials.log_in("login-1", ADA, lifetime=10 * step)
    secret, row = await credentials.begin_session(login)
    assert row.expires == login.expires
    clock.advance(9 * step)
    again = await credentials.log_in("login-1", ADA, lifetime=10 * step)
    await credentials.extend(row.id)
    clock.advance(9 * step)
    assert credentials.find_session(name_of(row.id), secret) is not None
    async with another(store, clock) as other:
        assert other.find_session(name_of(row.id), secret) is not None
        changed = Principal(id="ada", name="laptop", kind="user", rights=("view/a",))
        assert (await other.log_in("login-1", changed, lifetime=1000)).principal.rights == ("view/a",)
        assert other.find_session(name_of(row.id), secret) is None
    assert again.credential == login.credential


async def test_concurrent_logins_at_two_gateways_share_one_row(
    credentials: Credentials, clock: ManualClock, store: MemoryStore
) -> None:
    async with another(store, clock) as other, asyncio.TaskGroup() as tasks:
        for one in (credentials, other):
            tasks.create_task(one.log_in("login-1", ADA, lifetime=10))
    assert list(store.tables[TABLE]) == ["login-1"]
    clock.advance(11)
    assert credentials.identity("login-1") is None


async def test_a_revocation_missed_while_disconnected_takes_effect_on_reconnecting(
    credentials: Credentials, store: MemoryStore
) -> None:
    secret, row = await credentials.create("token", ADA, owner(credentials))
    ended: list[str] = []
    revoked = asyncio.Event()
    credentials.subscribe(ended.append)
    credentials.subscribe(lambda id: revoked.set())
    del store.tables[TABLE][row.id]
    assert credentials.find(secret) is not None
    store.notify(ANY_TABLE, "")
    async with asyncio.timeout(TIMEOUT):
        await revoked.wait()
    assert (ended, credentials.find(secret)) == ([row.id], None)
