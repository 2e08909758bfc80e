from pathlib import Path

from hawse.api.paths import from_text
from hawse.client.base.environment import UNATTENDED, directory, environment


def test_a_directory_is_sent_as_text_also_if_it_is_not_utf_8() -> None:
    assert directory(None) is None
    assert directory("a/b") == "a/b"
    assert directory(Path("a/b")) == directory(b"a/b") == "a/b"
    sent = directory("\udcff")
    assert sent == "\0ff"
    assert from_text(sent) == "\udcff"


def test_variables_are_copied_and_none_unsets_one() -> None:
    given = {"A": "b", "C": None}
    sent = environment(given)
    assert sent == given
    assert sent is not given
    assert environment(None) is None


def test_unattended_programs_get_variables_that_the_given_ones_replace() -> None:
    sent = environment({"CI": None, "PAGER": "less", "A": "b"}, unattended=True)
    assert sent is not None
    assert (sent["CI"], sent["PAGER"], sent["A"]) == (None, "less", "b")
    assert (sent["DEBIAN_FRONTEND"], sent["GIT_TERMINAL_PROMPT"]) == ("noninteractive", "0")
    assert environment(None, unattended=True) == UNATTENDED
