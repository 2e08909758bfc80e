from typing import TypedDict

import pytest

from hawse.client.base.keywords import declared


class Options(TypedDict, total=False):
    name: str | None


def test_arguments_that_are_not_declared_are_refused_and_none_is_left_out() -> None:
    assert declared({"name": "a"}, Options, "make") == {"name": "a"}
    assert declared({"name": None}, Options, "make") == {}
    with pytest.raises(TypeError, match=r"^make\(\) got an unexpected keyword argument 'nane'$"):
        declared({"nane": "a"}, Options, "make")
