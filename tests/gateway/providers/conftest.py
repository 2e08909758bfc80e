from pathlib import Path

import pytest

from tests.support.bundle import ensure_tests_bundle


@pytest.fixture(scope="session")
def bundle() -> Path:
    return ensure_tests_bundle()
