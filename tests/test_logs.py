"""The two forms of a log line: JSON for machines, text for people."""

import io
import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hawse.logs import TRACE, handler

Log = Callable[..., dict[str, Any]]


@pytest.fixture
def written() -> tuple[logging.Logger, io.StringIO]:
    """A separate logger, and the stream to which it writes JSON."""
    paper = io.StringIO()
    made = handler("json")
    assert isinstance(made, logging.StreamHandler)
    made.setStream(paper)
    logger = logging.Logger("hawse_gateway.connection.endpoint")
    logger.addHandler(made)
    return logger, paper


def test_a_line_is_an_object_with_the_fields_that_are_set(written: tuple[logging.Logger, io.StringIO]) -> None:
    logger, paper = written
    logger.warning("< %s refused", "peer:1", extra={"peer": "peer:1", "code": "unauthenticated", "role": None})
    entry = json.loads(paper.getvalue())
    then = datetime.fromisoformat(entry.pop("time"))
    assert abs(datetime.now(UTC) - then) < timedelta(minutes=1)
    assert entry == {
        "level": "warning",
        "logger": "hawse_gateway.connection.endpoint",
        "message": "< peer:1 refused",
        "peer": "peer:1",
        "code": "unauthenticated",
    }


def test_any_message_is_one_line(written: tuple[logging.Logger, io.StringIO]) -> None:
    logger, paper = written
    logger.error('a "line"\nand\r\x1b[31m another\u2028 ü \udcff')
    (line,) = paper.getvalue().splitlines()
    assert json.loads(line)["message"] == 'a "line"\nand\r\x1b[31m another\u2028 ü \udcff'


def test_an_exception_is_logged_with_its_trace(written: tuple[logging.Logger, io.StringIO]) -> None:
    logger, paper = written
    try:
        raise ValueError("no")
    except ValueError:
        logger.exception("! failed")
    assert json.loads(paper.getvalue())["trace"].endswith("ValueError: no")


def test_attributes_that_are_not_fields_are_not_written(written: tuple[logging.Logger, io.StringIO]) -> None:
    logger, paper = written
    logger.warning("hello", extra={"token": "secret"})
    assert "secret" not in paper.getvalue()


def test_the_text_form_is_one_short_line() -> None:
    record = logging.LogRecord("gateway", logging.WARNING, __file__, 1, "! %s", ("trouble",), None)
    assert handler("text").format(record).endswith(" WARNING gateway ! trouble")


def test_a_line_names_the_call_that_is_being_handled(written: tuple[logging.Logger, io.StringIO]) -> None:
    logger, paper = written
    text = handler("text")
    assert isinstance(text, logging.StreamHandler)
    text.setStream(lines := io.StringIO())
    logger.addHandler(text)
    mark = TRACE.set("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
    try:
        logger.warning("! failed")
    finally:
        TRACE.reset(mark)
    logger.warning("= later")
    first, later = map(json.loads, paper.getvalue().splitlines())
    assert (first["trace_id"], first["request"]) == ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7")
    assert "request" not in later
    assert [line.rpartition(" ")[2] for line in lines.getvalue().splitlines()] == ["[00f067aa0ba902b7]", "later"]
