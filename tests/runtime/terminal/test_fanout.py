"""Which viewers share a frame, and where they stop so that they can share the next one."""

from dataclasses import dataclass

from hawse.wire.frames import SHARED_MAX
from hawse_runtime.terminal.congestion_window import FLOOR, STEP
from hawse_runtime.terminal.fanout import CATCH_UP, FanoutViewer, furthest_behind, share


@dataclass(eq=False)
class FakeViewer:
    cursor: int | None = 0
    free: int = 1 << 20
    in_flight: int = 0
    probed: bool = False
    shares: bool = True

    def room(self) -> int:
        return self.free

    def can_share(self, other: FanoutViewer) -> bool:
        return self.shares


def test_viewers_at_the_same_offset_share_what_all_of_them_have_room_for() -> None:
    viewers = [FakeViewer(), FakeViewer(free=3 * STEP), FakeViewer(cursor=1), FakeViewer(shares=False)]
    shared = share(viewers[0], viewers, 10 * STEP, ())
    assert shared.size == 3 * STEP
    assert shared.peers == [viewers[1]]


def test_a_viewer_without_room_for_a_step_does_not_hold_up_the_others() -> None:
    viewers = [FakeViewer(), FakeViewer(free=STEP - 1)]
    assert share(viewers[0], viewers, 4 * STEP, ()) == (4 * STEP, [])


def test_a_frame_has_a_bounded_number_of_viewers() -> None:
    viewers = [FakeViewer() for _ in range(2 * SHARED_MAX)]
    assert len(share(viewers[0], viewers, STEP, ()).peers) == SHARED_MAX - 1


def test_viewers_stop_at_multiples_of_the_step_unless_all_of_them_stop_anyway() -> None:
    viewer = FakeViewer(cursor=100)
    assert share(viewer, [viewer], 2 * STEP, ()).size == 2 * STEP - 100
    assert share(viewer, [viewer], 2 * STEP, (100 + 2 * STEP,)).size == 2 * STEP


def test_less_than_a_step_waits_while_a_step_of_credit_is_in_flight() -> None:
    viewer = FakeViewer(cursor=0, in_flight=FLOOR)
    assert share(viewer, [viewer], 100, ()).size == 0
    viewer.in_flight = FLOOR - 1
    assert share(viewer, [viewer], 100, ()).size == 100
    viewer.in_flight, viewer.probed = FLOOR, True
    assert share(viewer, [viewer], 100, ()).size == 100


def test_the_viewer_furthest_behind_with_room_goes_first() -> None:
    viewer = FakeViewer(cursor=CATCH_UP + 100)
    near, far, full = FakeViewer(cursor=300), FakeViewer(cursor=200), FakeViewer(cursor=100, free=STEP - 1)
    viewers = [viewer, near, far, full, FakeViewer(cursor=100, shares=False), FakeViewer(cursor=None)]
    assert furthest_behind(viewer, viewers, 0) is far
    assert furthest_behind(far, viewers, 0) is None
    assert furthest_behind(viewer, viewers, 250) is near, "what `far` needs is lost"


def test_a_viewer_that_is_far_behind_is_not_waited_for() -> None:
    viewer = FakeViewer(cursor=CATCH_UP + 1)
    assert furthest_behind(viewer, [viewer, FakeViewer(cursor=0)], 0) is None
