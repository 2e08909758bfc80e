from hawse_gateway.core.durations import Durations


def test_a_duration_is_counted_in_the_first_bucket_that_it_fits_in() -> None:
    durations = Durations((0.1, 1.0))
    for seconds in (0.0, 0.1, 0.5, 1.0, 1.5, 60.0):
        durations.add(seconds)
    assert durations.counts == [2, 2, 2]
    assert durations.total == 63.1
