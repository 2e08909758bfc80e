"""Tests with real kernels. The pool is empty unless a test asks for it: each kernel takes a second of CPU time."""

import pytest

from runtime.code.limits import CodeLimits, PoolLimits
from runtime.settings import RuntimeLimits

NO_POOL = CodeLimits(pool=PoolLimits(size=0))


@pytest.fixture
def limits() -> RuntimeLimits:
    return RuntimeLimits(code=NO_POOL)
