"""Tests with real kernels. The pool is empty unless a test asks for it: each kernel takes a second of CPU time."""

import pytest

from hawse.api.code_pool import PoolLimits
from runtime.code.limits import CodeLimits
from runtime.settings import RuntimeLimits

NO_POOL = CodeLimits(pool=PoolLimits(size=0))


@pytest.fixture
def limits() -> RuntimeLimits:
    return RuntimeLimits(code=NO_POOL)
