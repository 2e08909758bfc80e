"""The text of `--code-pool`."""

import pytest

from hawse.code_pool import PoolLimits, parse_pools


def test_values_are_for_all_languages_or_for_one() -> None:
    assert parse_pools([]) == (PoolLimits(), {})
    common, pools = parse_pools(["idle=60", "Python:size=8,memory=2G", "bash:size=0"])
    assert common == PoolLimits(idle=60)
    assert pools == {"python": PoolLimits(size=8, idle=60, memory=2 << 30), "bash": PoolLimits(size=0, idle=60)}


@pytest.mark.parametrize("text", ["", "8", "size", "size=-1", "size=1M", "memory=1T", "python:", "size=1,,idle=2"])
def test_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="where memory can end with K, M or G"):
        parse_pools([text])


def test_a_language_is_stated_once() -> None:
    with pytest.raises(ValueError, match="there are two values for bash"):
        parse_pools(["bash:size=1", "bash:idle=2"])
