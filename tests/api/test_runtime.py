"""The runtime about itself, as types."""

import msgspec

from hawse.api.runtime import AskRuntime, RuntimeInfo


def test_it_is_asked_for_nothing_and_says_numbers() -> None:
    assert AskRuntime.__struct_fields__ == ()
    numbers = dict.fromkeys(("pid", "terminals", "processes", "sessions", "open_fds", "tasks", "memory"), 3)
    said = {"runtime": "ab", "version": "1", "started": 1.5, **numbers}
    assert msgspec.to_builtins(msgspec.convert(said, RuntimeInfo)) == said
