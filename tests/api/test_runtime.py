"""`runtime.info` and `runtime.metrics`."""

import msgspec
import pytest

from hawse.api.runtime import ECHO_BOUNDS, EchoHistogram, RuntimeInfo, RuntimeInfoResult


def test_the_methods_have_no_parameters_and_return_numbers() -> None:
    assert RuntimeInfo.__struct_fields__ == ()
    numbers = dict.fromkeys(("pid", "terminals", "processes", "sessions", "open_fds", "tasks", "memory"), 3)
    fields = {"runtime": "ab", "version": "1", "started": 1.5, **numbers}
    assert msgspec.to_builtins(msgspec.convert(fields, RuntimeInfoResult)) == fields


def test_the_bounds_of_the_histogram_are_in_order_and_each_class_is_counted() -> None:
    assert list(ECHO_BOUNDS) == sorted(set(ECHO_BOUNDS))
    counts = [0] * (len(ECHO_BOUNDS) + 1)
    assert msgspec.convert({"counts": counts, "seconds": 0}, EchoHistogram).counts == tuple(counts)
    for wrong in (counts[1:], [0, *counts], [-1, *counts[1:]]):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({"counts": wrong, "seconds": 0}, EchoHistogram)
