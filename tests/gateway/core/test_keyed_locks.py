"""A lock for each key, which is forgotten when it is not used."""

import asyncio

from hawse_gateway.core.keyed_locks import KeyedLocks


async def test_the_lock_of_a_key_excludes_others_with_that_key_only() -> None:
    locks = KeyedLocks()
    order: list[str] = []

    async def second() -> None:
        async with locks["a"]:
            order.append("second")

    async with locks["a"]:
        waiting = asyncio.create_task(second())
        async with locks["b"]:
            order.append("other key")
        await asyncio.sleep(0)
        order.append("first")
    await waiting
    assert order == ["other key", "first", "second"]


async def test_a_lock_that_is_not_used_is_forgotten() -> None:
    locks = KeyedLocks()
    for number in range(100):
        async with locks[str(number)]:
            assert len(locks) == 1
    assert len(locks) == 0
