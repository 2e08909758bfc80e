"""Work in progress is counted until it ends, even with an error."""

from collections import Counter

import pytest

from hawse_gateway.limits.in_progress import in_progress


def test_work_is_counted_until_it_ends() -> None:
    counts = Counter[str]()
    with in_progress(counts, "ada"):
        with pytest.raises(ValueError, match="wrong"), in_progress(counts, "ada"):
            assert counts == {"ada": 2}
            raise ValueError("wrong")
        assert counts == {"ada": 1}
    assert dict(counts) == {}
