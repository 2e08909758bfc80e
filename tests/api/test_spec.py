"""What a method says of itself."""

import msgspec

from hawse.api import METHODS, Nothing, Spec


class Ask(msgspec.Struct):
    """Asks for something.

    And says more of it.
    """


def test_the_summary_is_the_first_line_of_what_the_parameters_say() -> None:
    assert Spec(Ask, Nothing).summary == "Asks for something."


def test_what_has_events_or_bytes_is_a_stream() -> None:
    assert not Spec(Ask, Nothing).stream
    assert Spec(Ask, Nothing, events={"opened": Nothing}).stream
    assert Spec(Ask, Nothing, output=("stdout",)).stream
    assert Spec(Ask, Nothing, input=True).stream


def test_every_method_says_what_it_does() -> None:
    assert [name for name, spec in METHODS.items() if not spec.summary] == []
