import logging
from collections.abc import Iterator

import pytest

from gateway import logs

NAMES = ("", "gateway", "hawse", "uvicorn", "uvicorn.error", "uvicorn.access", "websockets")


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    before = {name: logging.getLogger(name).level for name in NAMES}
    yield
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


def test_by_default_only_trouble_is_logged() -> None:
    logs.configure(verbose=False)
    assert not logging.getLogger("gateway.session").isEnabledFor(logging.INFO)
    assert logging.getLogger("gateway.session").isEnabledFor(logging.WARNING)


def test_verbose_tells_who_comes_and_goes() -> None:
    logs.configure(verbose=True)
    assert logging.getLogger("gateway.connect").isEnabledFor(logging.INFO)


@pytest.mark.parametrize("verbose", [True, False])
def test_uvicorns_lines_which_hold_tickets_are_never_logged(verbose: bool) -> None:
    logs.configure(verbose=verbose)
    for name in ("uvicorn.error", "uvicorn.access"):
        assert not logging.getLogger(name).isEnabledFor(logging.INFO)
