from collections.abc import Callable
from typing import TypedDict

import pytest

from hawse.client.base.keywords import declared, declared_callbacks


class Options(TypedDict, total=False):
    name: str | None


def test_arguments_that_are_not_declared_are_refused_and_none_is_left_out() -> None:
    assert declared({"name": "a"}, Options, "make") == {"name": "a"}
    assert declared({"name": None}, Options, "make") == {}
    with pytest.raises(TypeError, match=r"^make\(\) got an unexpected keyword argument 'nane'$"):
        declared({"nane": "a"}, Options, "make")


class Callbacks(TypedDict, total=False):
    on_output: Callable[[bytes], object]
    on_input: Callable[[], object]


def test_an_async_callback_is_refused_where_nothing_awaits_it() -> None:
    async def later() -> None: ...

    class Later:
        async def __call__(self) -> None: ...

    given = {"on_output": print, "on_input": later}
    assert declared_callbacks(given, Callbacks, "run", awaited=["on_input"]) == given
    for callback in (later, Later()):
        with pytest.raises(TypeError, match=r"^on_output must be a plain function: .* async$"):
            declared_callbacks({"on_output": callback}, Callbacks, "run", awaited=["on_input"])
    with pytest.raises(TypeError, match=r"^on_output must be a function, not the int 3$"):
        declared_callbacks({"on_output": 3}, Callbacks, "run")
