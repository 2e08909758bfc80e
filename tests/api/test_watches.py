"""The `watch.*` methods."""

import msgspec
import pytest

from hawse.api import METHODS
from hawse.api.watches import WatchedChanges, WatchStart

OURS = {name: spec for name, spec in METHODS.items() if name.startswith("watch.")}


def test_the_defaults_watch_everything_below_except_the_default_exclusions() -> None:
    params = msgspec.json.decode(b'{"path": "src"}', type=WatchStart)
    assert (params.recursive, params.include, params.exclude, params.since) == (True, None, None, None)


@pytest.mark.parametrize(
    "bad", ['{"path": ""}', '{"path": "a", "include": [""]}', "{}", '{"path": "a", "exclude": "x"}']
)
def test_parameters_out_of_bounds_are_refused(bad: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(bad, type=WatchStart)


def test_only_watch_start_is_a_stream() -> None:
    assert [name for name, spec in OURS.items() if spec.stream] == ["watch.start"]


def test_an_unknown_type_of_change_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"version": "1", "changes": [{"type": "moved", "path": "/a"}]}', type=WatchedChanges)
