"""One snapshot in each turn of the event loop, in the order of those that asked."""

from collections.abc import Callable

from runtime.screen.snapshot_turns import SnapshotTurns


class Loop:
    """Runs functions when the test says so."""

    def __init__(self) -> None:
        self.soon: list[Callable[[], object]] = []

    def call_soon(self, call: Callable[[], object]) -> None:
        self.soon.append(call)

    def turn(self) -> None:
        soon, self.soon = self.soon, []
        for call in soon:
            call()


class Taker:
    """Asks when it is woken, unless it is stalled; notes in which order snapshots were taken."""

    def __init__(self, name: str, turns: SnapshotTurns, taken: list[str]) -> None:
        self.name, self.turns, self.taken = name, turns, taken
        self.stalled = False

    def wake(self) -> None:
        if not self.stalled and self.turns.take(self):
            self.taken.append(self.name)


def make(names: str) -> tuple[Loop, SnapshotTurns, list[Taker], list[str]]:
    loop, taken = Loop(), list[str]()
    turns = SnapshotTurns(loop.call_soon)
    return loop, turns, [Taker(name, turns, taken) for name in names], taken


def test_each_turn_has_one_snapshot_in_the_order_of_those_that_asked() -> None:
    loop, turns, takers, taken = make("abc")
    for taker in takers:
        taker.wake()
    takers[1].wake()  # asking again does not change the order
    assert (taken, turns.waiting) == (["a"], 2)
    loop.turn()
    assert taken == ["a", "b"]
    loop.turn()
    assert taken == ["a", "b", "c"]
    loop.turn()
    assert (loop.soon, turns.waiting) == ([], 0)
    takers[0].wake()
    assert taken == ["a", "b", "c", "a"]


def test_one_that_cannot_send_now_does_not_hold_up_the_next() -> None:
    loop, turns, takers, taken = make("abcd")
    for taker in takers:
        taker.wake()
    takers[1].stalled = True
    turns.leave(takers[2])
    loop.turn()
    assert (taken, turns.waiting) == (["a", "d"], 0)
