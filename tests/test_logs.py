"""The lines of a log, as a machine reads them."""

import io
import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hawse.logs import handler

Log = Callable[..., dict[str, Any]]


@pytest.fixture
def written() -> tuple[logging.Logger, io.StringIO]:
    """A logger of its own, and what it has written in JSON."""
    paper = io.StringIO()
    made = handler("json")
    assert isinstance(made, logging.StreamHandler)
    made.setStream(paper)
    logger = logging.Logger("gateway.connection.endpoint")
    logger.addHandler(made)
    return logger, paper


def test_a_line_is_an_object_with_the_fields_that_are_known(written: tuple[logging.Logger, io.StringIO]) -> None:
    logger, paper = written
    logger.warning("< %s refused", "peer:1", extra={"peer": "peer:1", "code": "unauthenticated", "role": None})
    said = json.loads(paper.getvalue())
    then = datetime.fromisoformat(said.pop("time"))
    assert abs(datetime.now(UTC) - then) < timedelta(minutes=1)
    assert said == {
        "level": "warning",
        "logger": "gateway.connection.endpoint",
        "message": "< peer:1 refused",
        "peer": "peer:1",
        "code": "unauthenticated",
    }


def test_whatever_a_message_holds_it_is_one_line(written: tuple[logging.Logger, io.StringIO]) -> None:
    logger, paper = written
    logger.error('a "line"\nand\r\x1b[31m another\u2028 ü \udcff')
    (line,) = paper.getvalue().splitlines()
    assert json.loads(line)["message"] == 'a "line"\nand\r\x1b[31m another\u2028 ü \udcff'


def test_an_exception_has_its_trace(written: tuple[logging.Logger, io.StringIO]) -> None:
    logger, paper = written
    try:
        raise ValueError("no")
    except ValueError:
        logger.exception("! failed")
    assert json.loads(paper.getvalue())["trace"].endswith("ValueError: no")


def test_what_is_no_field_stays_inside(written: tuple[logging.Logger, io.StringIO]) -> None:
    logger, paper = written
    logger.warning("hello", extra={"token": "secret"})
    assert "secret" not in paper.getvalue()


def test_for_people_it_is_a_terse_line() -> None:
    record = logging.LogRecord("gateway", logging.WARNING, __file__, 1, "! %s", ("trouble",), None)
    assert handler("text").format(record).endswith(" WARNING gateway ! trouble")
