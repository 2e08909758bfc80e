from hawse_gateway.store.clock import Clock, Moment


def test_within_a_boot_a_change_of_the_wall_clock_does_not_matter() -> None:
    wall, uptime = [1000.0], [50.0]
    clock = Clock(wall=lambda: wall[0], uptime=lambda: uptime[0], boot="a")
    due = clock.now().after(10)
    assert clock.until(due) == 10
    wall[0] += 365 * 86_400
    uptime[0] += 4
    assert clock.until(due) == 6
    wall[0] = 0
    assert clock.until(due) == 6
    assert not clock.now().is_after(due)
    uptime[0] += 7
    assert clock.now().is_after(due)


def test_after_a_reboot_the_wall_clock_decides() -> None:
    before = Clock(wall=lambda: 1000.0, uptime=lambda: 50.0, boot="a")
    after = Clock(wall=lambda: 1007.0, uptime=lambda: 1.0, boot="b")
    assert after.until(before.now().after(10)) == 3
    assert after.now().is_after(before.now())
    assert not after.now().is_after(before.now().after(10))


def test_this_machines_clock_advances() -> None:
    clock = Clock()
    first = clock.now()
    assert isinstance(first, Moment)
    assert clock.until(first) <= 0
    assert clock.until(first.after(1000)) > 900
